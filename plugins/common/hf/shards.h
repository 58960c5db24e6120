// Which .safetensors files of a hub folder make up the model.
// Thread rule: [load]. Flow: the folder's reader opens what is listed here.
#pragma once
#include <mortise/cpp/part.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mortise::hf {

constexpr const char* kIndexName = "model.safetensors.index.json";

struct Shards {
  std::vector<std::string> files;                               ///< names within the folder, in order
  std::vector<std::pair<std::string, std::string>> weight_map;  ///< of the index: tensor, file; or empty
  std::string index_path;
};

/// Reads the index `json` into files and weight_map. Errors carry `where` and the byte: no such JSON, a
/// tensor twice, a file that is no plain *.safetensors name.
Result<void> read_index(std::string_view json, const std::string& where, Shards* out);

/// model.safetensors; or the files that model.safetensors.index.json names; or every *.safetensors but
/// adapters and, beside others, consolidated*. Errors: those of read_index, and what the system says.
Result<Shards> list_shards(Host host, const std::string& folder);

}  // namespace mortise::hf
