// The weights part: an open GGUF model as the host sees it.
// Thread rule: opened and closed by a [load] thread; asked by any thread. Flow: plugin.cc registers the
// table, the host calls it; split.h finds the files, file.h reads them.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/weights.h>

#include <map>
#include <mutex>
#include <vector>

#include "split.h"

namespace gguf {

class Model {
 public:
  /// The first part holds the metadata.
  explicit Model(std::vector<Part> parts);

  /// Made when first asked for; lives as long as the model. Errors: not_found; bad_data as Value::of.
  Result<mortise_meta> meta(std::string_view key);
  Result<mortise_meta> meta_at(uint64_t index, std::string_view* key);

  uint64_t entry_count() const { return file().entries.size(); }
  uint64_t tensor_count() const { return tensors_.size(); }
  /// Null behind the last.
  const mortise_tensor* tensor(uint64_t index) const;

 private:
  void add(const Tensor& tensor, uint32_t file_handle);
  Result<mortise_meta> value(const Entry& entry);

  const File& file() const { return parts_.front().file; }

  const std::vector<Part> parts_;
  std::vector<mortise_plane> planes_;  // one a tensor
  std::vector<const mortise_plane*> plane_pointers_;
  std::vector<mortise_tensor> tensors_;
  std::mutex mutex_;  // guards values_
  std::map<const Entry*, Value> values_;
};

/// An instance: nothing but the host, which maps the files.
class Weights {
 public:
  Weights(mortise::Host host, const mortise::NoParams&) : host_(host) {}

  static int32_t probe(std::string_view path, std::string_view head);
  Result<Model*> open(mortise_str path, uint32_t flags) const;

 private:
  mortise::Host host_;
};

extern const mortise_weights kWeightsTable;

}  // namespace gguf
