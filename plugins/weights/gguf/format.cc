// The format parts. Thread rule and flow: see format.h.
#include "format.h"

#include "file.h"

namespace gguf {

using mortise::Code;

FormatBase::FormatBase(mortise::Host host, const Type& type)
    : type_(&type),
      decode_(host.has_isa("avx2") && host.has_isa("f16c") ? type.decode_avx2 : type.decode_base) {}

mortise::Result<void> FormatBase::validate(const mortise_tensor& tensor) const {
  const auto bad = [&](const std::string& what) {
    return mortise::fail(Code::bad_data, quoted(mortise::view(tensor.name)),
                         std::string(type_->format) + ": " + what);
  };
  if (tensor.rank < 1 || tensor.rank > MORTISE_RANK_MAX) return bad("a tensor has one to four dimensions");
  if (tensor.param_count != 0) return bad("takes no parameters");
  if (tensor.plane_count != 1) return bad("its blocks lie in one plane");
  const uint64_t row = tensor.shape[tensor.rank - 1];
  if (row % type_->block_weights != 0)
    return bad("rows of " + std::to_string(row) + " are no whole number of blocks of " +
               std::to_string(type_->block_weights));
  uint64_t bytes = row / type_->block_weights;
  bool fits = !__builtin_mul_overflow(bytes, type_->block_bytes, &bytes);
  for (uint32_t i = 0; i + 1 < tensor.rank; ++i)
    fits = fits && !__builtin_mul_overflow(bytes, tensor.shape[i], &bytes);
  if (!fits || bytes != tensor.planes[0]->length) return bad("its plane is not as long as its shape says");
  return {};
}

void FormatBase::decode_rows(const mortise_tensor& tensor, const void* const* planes, uint64_t row0,
                             uint64_t rows, float* out) const {
  const uint64_t row_blocks = tensor.shape[tensor.rank - 1] / type_->block_weights;
  const auto* blocks = static_cast<const uint8_t*>(planes[0]) + row0 * row_blocks * type_->block_bytes;
  decode_(blocks, rows * row_blocks, out);
}

mortise_status validate_tensor(void* self, const mortise_tensor* tensor, mortise_error* error) noexcept {
  return mortise::guard(error, [&] { return static_cast<FormatBase*>(self)->validate(*tensor); });
}

void decode_tensor_rows(void* self, const mortise_tensor* tensor, const void* const* planes, uint64_t row0,
                        uint64_t rows, float* out) noexcept {
  static_cast<FormatBase*>(self)->decode_rows(*tensor, planes, row0, rows, out);
}

}  // namespace gguf
