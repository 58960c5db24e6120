// Which .safetensors files of a hub folder make up the model.
// Thread rule: [load]. Flow: the folder's reader opens what is listed here.
#pragma once
#include <mortise/cpp/part.h>

#include <string>
#include <utility>
#include <vector>

namespace mortise::hf {

struct Shards {
  std::vector<std::string> files;                               ///< names within the folder, in order
  std::vector<std::pair<std::string, std::string>> weight_map;  ///< of the index: tensor, file; or empty
  std::string index_path;
};

/// model.safetensors; or the files that model.safetensors.index.json names; or every *.safetensors but
/// adapters and, beside others, consolidated*. Errors: an index that is no such JSON, names a tensor twice or
/// a file that is no plain *.safetensors name.
Result<Shards> list_shards(Host host, const std::string& folder);

}  // namespace mortise::hf
