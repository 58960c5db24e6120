// The table of tensor types: geometry of a block, its decoders and its encoder.
// Thread rule: constants. Flow: the parser looks a tensor's type up here, the format part decodes and
// the writer encodes through it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace gguf {

/// Decodes `blocks` blocks at `src` (any alignment) to block_weights floats each at `out`; the two do not
/// overlap.
using Decoder = void (*)(const uint8_t* src, uint64_t blocks, float* out);

/// Encodes `blocks` blocks of finite floats at `x`. `importance`: how much an error in each of these weights
/// counts, finite and not negative, or null for all alike.
using Encoder = void (*)(const float* x, const float* importance, uint64_t blocks, uint8_t* out);

/// A tensor type of ggml. `decode_base` is null where the type is known but not read here. Both decoders give
/// the same bits; `decode_avx2` needs a processor with AVX2 and equals `decode_base` on other architectures.
struct Type {
  uint32_t number;
  std::string_view name;
  const char* format;      // id of the format part, "gguf.q4_1/1"; null where it is not read
  uint32_t block_weights;  // 0: withdrawn by ggml
  uint32_t block_bytes;
  Decoder decode_base;
  Decoder decode_avx2;
  Encoder encode;       // null where it is not written
  const char* instead;  // of a withdrawn type: the one to quantise the model as

  bool readable() const { return decode_base != nullptr; }
};

/// Null for a number that ggml has never given.
const Type* find_type(uint32_t number);
/// By name ("Q4_1"); null where there is none.
const Type* find_type(std::string_view name);
/// By its format's id ("gguf.q4_1/1"); null where there is none.
const Type* find_format(std::string_view format);
/// "gguf.f32/1, gguf.f16/1, ...": the formats that have an encoder.
std::string written_formats();
/// The type with the highest number.
const Type& highest_type();

}  // namespace gguf
