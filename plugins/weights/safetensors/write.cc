// The writer. Thread rule and flow: see write.h.
#include "write.h"

namespace mortise::safetensors {

Result<std::unique_ptr<Writer>> Writer::begin(std::string_view path, const mortise_write_plan& plan) {
  auto out = std::make_unique<Writer>();
  std::vector<hf::OutTensor> tensors;
  for (uint64_t i = 0; i < plan.tensor_count; ++i) {
    MORTISE_TRY(stored, hf::Stored::of(*plan.tensors[i]));
    tensors.push_back(stored.out());
    out->tensors_.push_back(std::move(stored));
  }
  MORTISE_TRY(folder, hf::FolderWriter::begin(path, plan, std::move(tensors)));
  out->folder_ = std::move(folder);
  return out;
}

}  // namespace mortise::safetensors
