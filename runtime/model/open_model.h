// An opened weights file or folder: tensors by name, the memory of their planes, and the C view for plugins.
// Thread rule: made on the loading thread, then read-only from any. Flow: weights plugin -> here -> arch,
// tokenizer, chat, chooser and packing.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/files.h"
#include "model/provider.h"

namespace mortise {

constexpr uint64_t kTensorsMax = uint64_t{1} << 20;

class OpenModel {
 public:
  /// Opens `path` with a weights provider. `header_only` accepts a file that ends behind its header.
  static Result<std::unique_ptr<OpenModel>> open(const Provider& weights, const Files& files,
                                                 const std::string& path, bool header_only);
  ~OpenModel();
  OpenModel(const OpenModel&) = delete;
  OpenModel& operator=(const OpenModel&) = delete;

  const std::string& path() const { return path_; }
  const mortise_model& c() const { return view_; }
  const mortise_tensor* tensor(std::string_view name) const;
  const std::vector<const mortise_tensor*>& tensors() const { return tensors_; }
  /// False where some tensor lies behind the end of its file (header_only).
  bool has_data() const { return has_data_; }

  /// The memory of each plane. Errors name a plane that is not in its file.
  Result<std::vector<const void*>> planes(const mortise_tensor& tensor) const;
  /// The planes of the tensor are not needed any more: their pages are let go.
  void release(const mortise_tensor& tensor) const;
  /// The same for the part of each plane that holds rows [row0, row0 + rows) of `all`, where planes are in
  /// the order of rows; elsewhere it is a part of the same size.
  void release_rows(const mortise_tensor& tensor, uint64_t row0, uint64_t rows, uint64_t all) const;

 private:
  OpenModel(const Provider& weights, const Files& files, std::string path);
  Result<void> read_tensors();

  const Provider& weights_;
  const Files& files_;
  std::string path_;
  void* model_ = nullptr;
  bool has_data_ = true;
  mortise_model view_{};
  std::vector<const mortise_tensor*> tensors_;
  std::unordered_map<std::string_view, const mortise_tensor*> by_name_;
};

}  // namespace mortise
