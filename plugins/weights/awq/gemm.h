// The format awq.gemm: four-bit codes with a zero point and a scale per group, words of eight outputs.
// Thread rule: pure functions. Flow: plugin.cc registers the part; the reference kernel decodes through it,
// fast kernels are measured against it. The layout stands in docs/formats/awq.md.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/format.h>

#include <cstdint>

namespace awq {

constexpr uint32_t kBits = 4;
constexpr uint32_t kWordCodes = 8;  // codes of a 32-bit word

/// Where the code of output 8c + j stands in word c: bits 4 * kNibble[j] and up.
constexpr uint32_t kNibble[kWordCodes] = {0, 4, 1, 5, 2, 6, 3, 7};

/// Rank, shape and parameters: what is known of a tensor before it has planes.
mortise::Result<void> check_shape(const mortise_tensor& tensor);

/// Shape [out, in], planes "codes" i32 [in, out / 8], "zeros" i32 [in / group_size, out / 8], "scales" f16 or
/// bf16 [in / group_size, out]; parameters bits = 4 and group_size, which divides in.
mortise::Result<void> validate(const mortise_tensor& tensor);

/// See mortise_format.decode_rows.
void decode_rows(const mortise_tensor& tensor, const void* const* planes, uint64_t row0, uint64_t rows,
                 float* out);

extern const mortise_format kGemmTable;

}  // namespace awq
