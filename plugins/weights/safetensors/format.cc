// The format parts' checks. Thread rule and flow: see format.h.
#include "format.h"

#include <mortise/cpp/reader.h>

#include <string>

namespace mortise::safetensors {
namespace {

constexpr const char* kMxfp4Id = "safetensors.mxfp4/1";
constexpr uint64_t kMxfp4Group = 32;

tl::unexpected<Error> bad(const char* id, const mortise_tensor& tensor, const std::string& what) {
  return fail(Code::bad_data, "\"" + std::string(view(tensor.name)) + "\"", std::string(id) + ": " + what);
}

/// Every dimension but the last; false where the product overflows.
bool row_count(const mortise_tensor& tensor, uint64_t* rows) {
  *rows = 1;
  for (uint32_t i = 0; i + 1 < tensor.rank; ++i)
    if (!multiply(*rows, tensor.shape[i], rows)) return false;
  return true;
}

}  // namespace

Result<void> validate_elementwise(const Elementwise& format, const mortise_tensor& tensor) {
  if (tensor.rank < 1 || tensor.rank > MORTISE_RANK_MAX)
    return bad(format.id, tensor, "a tensor has one to four dimensions");
  if (tensor.plane_count != 1 || tensor.param_count != 0)
    return bad(format.id, tensor, "takes one plane and no parameters");
  const uint64_t row = tensor.shape[tensor.rank - 1];
  if (row % format.block_elements != 0)
    return bad(format.id, tensor, "rows of " + std::to_string(row) + " fill no whole number of bytes");
  uint64_t bytes = 0;
  const bool fits = row_count(tensor, &bytes) && multiply(bytes, row / format.block_elements, &bytes) &&
                    multiply(bytes, format.block_bytes, &bytes);
  if (!fits || bytes != tensor.planes[0]->length)
    return bad(format.id, tensor, "its plane is not as long as its shape says");
  return {};
}

Result<void> validate_mxfp4(const mortise_tensor& tensor) {
  if (tensor.rank < 2 || tensor.rank > MORTISE_RANK_MAX)
    return bad(kMxfp4Id, tensor, "a tensor has two to four dimensions");
  if (tensor.plane_count != 2 || tensor.param_count != 0 ||
      std::string_view(tensor.planes[0]->role) != "codes" ||
      std::string_view(tensor.planes[1]->role) != "scales")
    return bad(kMxfp4Id, tensor, "takes the planes codes and scales and no parameters");
  const uint64_t row = tensor.shape[tensor.rank - 1];
  if (row % kMxfp4Group != 0)
    return bad(kMxfp4Id, tensor, "rows of " + std::to_string(row) + " are no whole number of groups of 32");
  uint64_t groups = 0, code_bytes = 0;
  const bool fits = row_count(tensor, &groups) && multiply(groups, row / kMxfp4Group, &groups) &&
                    multiply(groups, kMxfp4Group / 2, &code_bytes);
  if (!fits || code_bytes != tensor.planes[0]->length || groups != tensor.planes[1]->length)
    return bad(kMxfp4Id, tensor, "its planes are not as long as its shape says");
  return {};
}

namespace {

mortise_status validate(void*, const mortise_tensor* tensor, mortise_error* error) noexcept {
  return guard(error, [&] { return validate_mxfp4(*tensor); });
}

void decode_rows(void*, const mortise_tensor* tensor, const void* const* planes, uint64_t row0, uint64_t rows,
                 float* out) noexcept {
  const uint64_t row_groups = tensor->shape[tensor->rank - 1] / kMxfp4Group;
  decode_mxfp4(static_cast<const uint8_t*>(planes[0]) + row0 * row_groups * (kMxfp4Group / 2),
               static_cast<const uint8_t*>(planes[1]) + row0 * row_groups, rows * row_groups, out);
}

}  // namespace

const mortise_format kMxfp4Table = {sizeof(mortise_format), 0, kMxfp4Id, 0, 0, validate, decode_rows, 3};

}  // namespace mortise::safetensors
