// What the decoders are made of: halves, scales, and codes of few bits as bytes. Included by the decode
// headers, once for each processor. Thread rule: pure functions. Flow: see decode_impl.h, whose rule on
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

inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
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
  const uint32_t small_bits = bits_of(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  // Infinity and NaN keep a full exponent.
  const uint32_t rebias = magnitude >= 0x7c00 ? 224u << 23 : 112u << 23;
  const uint32_t normal_bits = (magnitude << 13) + rebias;
  return float_of((magnitude < 0x400 ? small_bits : normal_bits) | (bits & 0x8000) << 16);
}

/// A block's scale. The instruction differs from half() in one thing, it makes a signalling NaN a quiet one,
/// as the multiplication that follows does anyway.
inline float half_of(uint32_t bits) {
#if defined(__F16C__)
  return _cvtsh_ss(static_cast<uint16_t>(bits));
#else
  return half(bits);
#endif
}
inline float half_at(const uint8_t* src) { return half_of(load_u16(src)); }

/// Sixteen bytes that are worked on at once. GCC 12 turns the loop over bytes that this stands for into
/// single bytes wherever it unrolls the loop first.
typedef uint8_t Bytes __attribute__((vector_size(16)));

inline Bytes load_bytes(const uint8_t* src) {
  Bytes value;
  memcpy(&value, src, sizeof(value));
  return value;
}

inline Bytes load_codes(const int8_t* codes) { return load_bytes(reinterpret_cast<const uint8_t*>(codes)); }

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

/// y = scale * code.
template <int count>
inline void scaled(float scale, const int8_t* codes, float* y) {
  for (int i = 0; i < count; ++i) y[i] = scale * static_cast<float>(codes[i]);
}

/// 256 codes of two bits, less `zero`: four planes of 32 in each half of the 64 bytes.
inline void two_bit_codes(const uint8_t* q, uint8_t zero, int8_t* codes) {
  for (int h = 0; h < 2; ++h)
    for (int plane = 0; plane < 4; ++plane)
      for (int i = 0; i < 32; i += 16)
        store(codes + 128 * h + 32 * plane + i, (load_bytes(q + 32 * h + i) >> 2 * plane & 3) - zero);
}

/// One digit, -1, 0 or 1, of each of `count` bytes; see tq1_0.
template <int count>
inline void ternary_digits(const uint8_t* q, int power, int8_t* codes) {
  for (int i = 0; i < count; ++i) codes[i] = static_cast<int8_t>((q[i] * power & 255) * 3 / 256 - 1);
}

/// The values that the codes of IQ4 name, and those of an E2M1 number, doubled.
alignas(16) constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
alignas(16) constexpr int8_t kE2m1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// Each byte of `places` (0 to 15) becomes the table's value there.
inline Bytes values_at(const int8_t* table, Bytes places) {
#if defined(__SSSE3__)
  const __m128i values = _mm_load_si128(reinterpret_cast<const __m128i*>(table));
  return reinterpret_cast<Bytes>(_mm_shuffle_epi8(values, reinterpret_cast<__m128i>(places)));
#else
  Bytes out;
  for (int i = 0; i < 16; ++i) out[i] = static_cast<uint8_t>(table[places[i]]);
  return out;
#endif
}

/// As nibbles(), each being a place in `table`.
inline void placed_nibbles(const uint8_t* q, const int8_t* table, int8_t* codes) {
  const Bytes both = load_bytes(q);
  store(codes, values_at(table, both & 15));
  store(codes + 16, values_at(table, both >> 4));
}

/// An unsigned E4M3 scale, halved because the table of E2M1 is doubled. 0x7f stands for 0; the top bit is not
/// looked at.
inline float half_of_e4m3(uint8_t byte) {
  if (byte == 0x7f) return 0;
  const uint32_t exponent = byte >> 3 & 15, fraction = byte & 7;
  if (exponent == 0) return static_cast<float>(fraction) * 0x1p-10f;
  return float_of((exponent + 119) << 23 | fraction << 20);
}

}  // namespace
}  // namespace GGUF_ISA
}  // namespace gguf
