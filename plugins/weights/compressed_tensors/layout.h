// The formats compressed.pack4, pack8, int8 and fp8: codes row by row, scales per group, channel, block or
// tensor. Thread rule: pure functions. Flow: plugin.cc registers the parts; the reference kernel decodes
// through them, fast kernels are measured against them. The layouts stand in
// docs/formats/compressed_tensors.md.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/format.h>

#include <array>
#include <cstdint>

namespace compressed_tensors {

/// How codes are stored: 4 or 8 bits with an offset of half their range in 32-bit words along the row, or
/// plain signed bytes, or floats of 8 bits (E4M3, no infinities).
enum class Kind { pack4, pack8, int8, fp8 };
constexpr uint32_t kKinds = 4;

constexpr uint32_t bits_of(Kind kind) { return kind == Kind::pack4 ? 4 : 8; }

/// Groups of a tensor with a group index; the decoder's tables of a row lie on the stack.
constexpr uint64_t kIndexedGroupsMax = 2048;

/// Shape [out, in]; parameters bits, group_size and group_rows: a scale stands for that many columns and
/// rows. Planes "codes" (pack: i32 [out, ceil(in * bits / 32)], int8: i8 [out, in], fp8: f8_e4m3 [out, in]),
/// "scales" f16, bf16 or f32 [ceil(out / group_rows), ceil(in / group_size)], perhaps "zeros" (i8 as scales,
/// or for pack i32 with words down the rows) and, where group_rows is 1, "group_index" i32 [in, 1].
mortise::Result<void> validate(const mortise_tensor& tensor, Kind kind);

/// See mortise_format.decode_rows. An element of the group index out of range counts as the last group.
void decode_rows(const mortise_tensor& tensor, Kind kind, const void* const* planes, uint64_t row0,
                 uint64_t rows, float* out);

/// The format parts' tables, in the order of Kind.
extern const std::array<mortise_format, kKinds> kTables;

}  // namespace compressed_tensors
