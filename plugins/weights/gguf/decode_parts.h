// What the decoders are made of: halves, scales, and codes of few bits as bytes. Included by decode_impl.h
// alone, once for each processor. Thread rule: pure functions. Flow: see decode_impl.h, whose rule on
// includes holds here too.
#pragma once
#include <stdint.h>
#include <string.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace gguf {
namespace GGUF_ISA {
namespace {

inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t load_u16(const uint8_t* src) {
  uint16_t value;
  memcpy(&value, src, sizeof(value));
  return value;
}

inline uint32_t load_u32(const uint8_t* src) {
  uint32_t value;
  memcpy(&value, src, sizeof(value));
  return value;
}

/// A half's value, exact. A subnormal half (below 0x400) is its fraction times 2^-24, a normal float.
inline float half(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fff;
  const float small = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;
  uint32_t small_bits;
  memcpy(&small_bits, &small, sizeof(small_bits));
  // Infinity and NaN keep a full exponent.
  const uint32_t rebias = magnitude >= 0x7c00 ? 224u << 23 : 112u << 23;
  const uint32_t normal_bits = (magnitude << 13) + rebias;
  return float_of((magnitude < 0x400 ? small_bits : normal_bits) | (bits & 0x8000) << 16);
}

/// A block's scale. The instruction differs from half() in one thing, it makes a signalling NaN a quiet one,
/// as the multiplication that follows does anyway.
inline float half_at(const uint8_t* src) {
#if defined(__F16C__)
  return _cvtsh_ss(static_cast<uint16_t>(load_u16(src)));
#else
  return half(load_u16(src));
#endif
}

/// Sixteen bytes that are worked on at once. GCC 12 turns the loop over bytes that this stands for into
/// single bytes wherever it unrolls the loop first.
typedef uint8_t Bytes __attribute__((vector_size(16)));

inline Bytes load_bytes(const uint8_t* src) {
  Bytes value;
  memcpy(&value, src, sizeof(value));
  return value;
}

inline void store(int8_t* codes, Bytes value) { memcpy(codes, &value, sizeof(value)); }

/// Codes of a block of 32, its low nibbles first, less `zero`.
inline void nibbles(const uint8_t* q, uint8_t zero, int8_t* codes) {
  const Bytes both = load_bytes(q);
  store(codes, (both & 15) - zero);
  store(codes + 16, (both >> 4) - zero);
}

/// Runs `unpack` over eight blocks of 32 and then `scale` over the same eight: the wide loads of codes would
/// stall right behind the narrower stores that made them.
template <int block_bytes, class Unpack, class Scale>
inline void for_chunks(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out, Unpack unpack,
                       Scale scale) {
  int8_t codes[8 * 32];
  while (blocks != 0) {
    const uint64_t count = blocks < 8 ? blocks : 8;
    for (uint64_t b = 0; b < count; ++b) unpack(src + b * block_bytes, codes + b * 32);
    for (uint64_t b = 0; b < count; ++b) scale(src + b * block_bytes, codes + b * 32, out + b * 32);
    src += count * block_bytes;
    out += count * 32;
    blocks -= count;
  }
}

/// Scale and minimum of group g out of the 12 bytes `s` of Q4_K and Q5_K.
struct Group {
  float scale, minimum;
};
inline Group group_of(const uint8_t* s, int g, float d, float dmin) {
  const int scale = g < 4 ? s[g] & 63 : (s[g + 4] & 15) | (s[g - 4] >> 6) << 4;
  const int minimum = g < 4 ? s[g + 4] & 63 : (s[g + 4] >> 4) | (s[g] >> 6) << 4;
  return {d * static_cast<float>(scale), dmin * static_cast<float>(minimum)};
}

/// Codes 32k to 32k + 31 of a half of a Q6_K block.
template <int k>
inline void q6_codes(const uint8_t* q, const uint8_t* upper, int8_t* codes) {
  for (int i = 0; i < 32; i += 16) {
    const Bytes low = load_bytes(q + 32 * (k % 2) + i) >> 4 * (k / 2) & 15;
    const Bytes high = (load_bytes(upper + i) >> 2 * k & 3) << 4;
    store(codes + i, (low | high) - 32);
  }
}

}  // namespace
}  // namespace GGUF_ISA
}  // namespace gguf
