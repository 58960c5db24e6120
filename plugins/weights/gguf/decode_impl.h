// The decoders themselves, plain loops of fixed length that a compiler turns into vector code. Included once
// by each decode_*.cc, which sets GGUF_ISA to the namespace; layouts and formulas are those of
// docs/formats/gguf.md. Thread rule: pure functions. Flow: reached through the table in types.cc.
//
// Includes no library template and defines nothing with external linkage but the decoders: an inline function
// compiled for AVX2 here could be the copy that the linker keeps for the whole plugin.
#pragma once
#include <stdint.h>
#include <string.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "decode.h"

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

/// Codes of a block of 32, its low nibbles first, less `zero`.
inline void nibbles(const uint8_t* __restrict q, int zero, int8_t* __restrict codes) {
  for (int i = 0; i < 16; ++i) codes[i] = static_cast<int8_t>((q[i] & 15) - zero);
  for (int i = 0; i < 16; ++i) codes[i + 16] = static_cast<int8_t>((q[i] >> 4) - zero);
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
inline void q6_codes(const uint8_t* __restrict q, const uint8_t* __restrict upper, int8_t* __restrict codes) {
  q += 32 * (k % 2);
  for (int i = 0; i < 32; ++i)
    codes[i] = static_cast<int8_t>(((q[i] >> 4 * (k / 2) & 15) | (upper[i] >> 2 * k & 3) << 4) - 32);
}

}  // namespace

void f32(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  memcpy(out, src, blocks * 4);
}

void f16(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (uint64_t i = 0; i < blocks; ++i) out[i] = half(load_u16(src + 2 * i));
}

void bf16(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (uint64_t i = 0; i < blocks; ++i) out[i] = float_of(load_u16(src + 2 * i) << 16);
}

void q4_0(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  const auto unpack = [](const uint8_t* in, int8_t* codes) { nibbles(in + 2, 8, codes); };
  for_chunks<18>(src, blocks, out, unpack, [](const uint8_t* in, const int8_t* codes, float* y) {
    const float d = half_at(in);
    for (int i = 0; i < 32; ++i) y[i] = static_cast<float>(codes[i]) * d;
  });
}

void q4_1(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  const auto unpack = [](const uint8_t* in, int8_t* codes) { nibbles(in + 4, 0, codes); };
  for_chunks<20>(src, blocks, out, unpack, [](const uint8_t* in, const int8_t* codes, float* y) {
    const float d = half_at(in), m = half_at(in + 2);
    for (int i = 0; i < 32; ++i) y[i] = static_cast<float>(codes[i]) * d + m;
  });
}

void q5_0(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  const auto unpack = [](const uint8_t* in, int8_t* codes) { nibbles(in + 6, 0, codes); };
  for_chunks<22>(src, blocks, out, unpack, [](const uint8_t* in, const int8_t* codes, float* y) {
    const float d = half_at(in);
    const uint32_t fifth = load_u32(in + 2);
    for (int i = 0; i < 32; ++i) y[i] = static_cast<float>(codes[i] - ((fifth & 1u << i) != 0 ? 0 : 16)) * d;
  });
}

void q5_1(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  const auto unpack = [](const uint8_t* in, int8_t* codes) { nibbles(in + 8, 0, codes); };
  for_chunks<24>(src, blocks, out, unpack, [](const uint8_t* in, const int8_t* codes, float* y) {
    const float d = half_at(in), m = half_at(in + 2);
    const uint32_t fifth = load_u32(in + 4);
    for (int i = 0; i < 32; ++i)
      y[i] = static_cast<float>(codes[i] + ((fifth & 1u << i) != 0 ? 16 : 0)) * d + m;
  });
}

void q8_0(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 34, out += 32) {
    const float d = half_at(src);
    for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(static_cast<int8_t>(src[2 + i])) * d;
  }
}

void q4_k(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 144, out += 256) {
    const float d = half_at(src), dmin = half_at(src + 2);
    for (int g = 0; g < 8; g += 2) {
      const Group low = group_of(src + 4, g, d, dmin), high = group_of(src + 4, g + 1, d, dmin);
      const uint8_t* q = src + 16 + 16 * g;
      float* y = out + 32 * g;
      for (int i = 0; i < 32; ++i) y[i] = low.scale * static_cast<float>(q[i] & 15) - low.minimum;
      for (int i = 0; i < 32; ++i) y[i + 32] = high.scale * static_cast<float>(q[i] >> 4) - high.minimum;
    }
  }
}

void q5_k(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 176, out += 256) {
    const float d = half_at(src), dmin = half_at(src + 2);
    for (int g = 0; g < 8; ++g) {
      const Group group = group_of(src + 4, g, d, dmin);
      const uint8_t* q = src + 48 + 32 * (g / 2);
      const uint8_t* fifth = src + 16;
      const int shift = 4 * (g % 2);
      float* y = out + 32 * g;
      for (int i = 0; i < 32; ++i) {
        const int code = (q[i] >> shift & 15) | (fifth[i] >> g & 1) << 4;
        y[i] = group.scale * static_cast<float>(code) - group.minimum;
      }
    }
  }
}

void q6_k(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 210, out += 256) {
    int8_t codes[256];
    for (int h = 0; h < 2; ++h) {
      const uint8_t *q = src + 64 * h, *upper = src + 128 + 32 * h;
      q6_codes<0>(q, upper, codes + 128 * h);
      q6_codes<1>(q, upper, codes + 128 * h + 32);
      q6_codes<2>(q, upper, codes + 128 * h + 64);
      q6_codes<3>(q, upper, codes + 128 * h + 96);
    }
    const float d = half_at(src + 208);
    for (int g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(static_cast<int8_t>(src[192 + g]));
      for (int i = 16 * g; i < 16 * g + 16; ++i) out[i] = scale * static_cast<float>(codes[i]);
    }
  }
}

}  // namespace GGUF_ISA
}  // namespace gguf
