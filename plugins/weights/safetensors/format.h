// The format parts: one for each stored element type, and mxfp4.
// Thread rule: constant, any thread decodes. Flow: plugin.cc registers them; they need no instance.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/format.h>

#include "decode.h"

namespace mortise::safetensors {

/// What is known of an elementwise format.
struct Elementwise {
  const char* id;
  uint64_t block_elements, block_bytes;
  Decoder* decode;
};

Result<void> validate_elementwise(const Elementwise& format, const mortise_tensor& tensor);
/// safetensors.mxfp4/1: planes codes u8 [rows, k / 2] and scales u8 [rows, k / 32].
Result<void> validate_mxfp4(const mortise_tensor& tensor);

/// The calls of the elementwise format at `format`.
template <const Elementwise& format>
struct ElementwiseCalls {
  static mortise_status validate(void*, const mortise_tensor* tensor, mortise_error* error) noexcept {
    return guard(error, [&] { return validate_elementwise(format, *tensor); });
  }
  static void decode_rows(void*, const mortise_tensor* tensor, const void* const* planes, uint64_t row0,
                          uint64_t rows, float* out) noexcept {
    const uint64_t row_blocks = tensor->shape[tensor->rank - 1] / format.block_elements;
    format.decode(static_cast<const uint8_t*>(planes[0]) + row0 * row_blocks * format.block_bytes,
                  rows * row_blocks, out);
  }
  static constexpr mortise_format table() {
    return {sizeof(mortise_format), 0,        format.id,  format.block_elements,
            format.block_bytes,     validate, decode_rows};
  }
};

extern const mortise_format kMxfp4Table;

/// An instance of a format: nothing.
struct FormatInstance {
  FormatInstance(Host, const NoParams&) {}
};

}  // namespace mortise::safetensors
