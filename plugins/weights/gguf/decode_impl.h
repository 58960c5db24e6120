// The decoders themselves, plain loops of fixed length that a compiler turns into vector code. Included once
// by each decode_*.cc, which sets GGUF_ISA to the namespace; layouts and formulas are those of
// docs/formats/gguf.md. Thread rule: pure functions. Flow: reached through the table in types.cc.
//
// Includes no library template and defines nothing with external linkage but the decoders: an inline function
// compiled for AVX2 here could be the copy that the linker keeps for the whole plugin.
#pragma once
#include <stdint.h>

#include "decode.h"
#include "decode_parts.h"

namespace gguf {
namespace GGUF_ISA {

void f32(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (uint64_t i = 0; i < blocks; ++i) out[i] = float_of(load_u32(src + 4 * i));
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
    for (int g = 0; g < 8; ++g) {
      const float even = d * static_cast<float>(static_cast<int8_t>(src[192 + 2 * g]));
      const float odd = d * static_cast<float>(static_cast<int8_t>(src[193 + 2 * g]));
      for (int i = 0; i < 32; ++i)
        out[32 * g + i] = (i < 16 ? even : odd) * static_cast<float>(codes[32 * g + i]);
    }
  }
}

}  // namespace GGUF_ISA
}  // namespace gguf
