// Writing of hub folders in float32, float16 and bfloat16.
// Thread rule: as mortise_weights says of its write calls. Flow: plugin.cc puts its calls into the table;
// tools hand rows of float32.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "hf/stored.h"

namespace mortise::safetensors {

class Writer {
 public:
  static Result<std::unique_ptr<Writer>> begin(std::string_view path, const mortise_write_plan& plan);
  Result<void> rows(uint64_t index, uint64_t row0, uint64_t rows, const float* x, const float*) const {
    return tensors_[index].write(*folder_, index, row0, rows, x);
  }
  Result<void> end() { return folder_->end(); }

 private:
  std::unique_ptr<hf::FolderWriter> folder_;
  std::vector<hf::Stored> tensors_;
};

}  // namespace mortise::safetensors
