// The formats gptq.int4 and gptq.int8: words run along the input, groups may be given by an index.
// Thread rule: pure functions. Flow: plugin.cc registers the parts; the reference kernel decodes through
// them, fast kernels are measured against them. The layout stands in docs/formats/gptq.md.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/format.h>

#include <cstdint>

namespace gptq {

/// Groups of a tensor with a group index; the decoder's tables of a row lie on the stack.
constexpr uint64_t kIndexedGroupsMax = 2048;

/// Shape [out, in]; `bits` is 4 or 8, a word has p = 32 / bits codes. Planes "codes" i32 [in / p, out],
/// "zeros" i32 [groups, ceil(out / p)], "scales" f16, bf16 or f32 [groups, out], perhaps "group_index" i32
/// [in, 1]; groups = ceil(in / group_size). Parameters: bits, group_size, zero_offset (1: the file holds zero
/// - 1).
mortise::Result<void> validate(const mortise_tensor& tensor, uint32_t bits);

/// See mortise_format.decode_rows. An element of the group index out of range counts as the last group.
void decode_rows(const mortise_tensor& tensor, uint32_t bits, const void* const* planes, uint64_t row0,
                 uint64_t rows, float* out);

extern const mortise_format kInt4Table, kInt8Table;

}  // namespace gptq
