// Decoders of the types of few bits without a grid: Q2_K, Q3_K, ternary, one and two bits, and those whose
// codes are places in a table of sixteen. Included by each decode_*.cc behind decode_impl.h, whose rules hold
// here. Thread rule: pure functions. Flow: reached through the table in types.cc.
#pragma once
#include "decode.h"
#include "decode_parts.h"

namespace gguf {
namespace GGUF_ISA {

void q1_0(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 18, out += 128) {
    const uint32_t d = bits_of(half_at(src));
    for (int i = 0; i < 128; ++i) out[i] = float_of(d ^ (~src[2 + i / 8] >> i % 8 & 1u) << 31);
  }
}

void q2_0(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 18, out += 64) {
    const float d = half_at(src);
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 4; ++j) out[4 * i + j] = static_cast<float>((src[2 + i] >> 2 * j & 3) - 1) * d;
  }
}

void q2_k(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 84, out += 256) {
    int8_t codes[256];
    two_bit_codes(src + 16, 0, codes);
    const float d = half_at(src + 80), dmin = half_at(src + 82);
    for (int g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(src[g] & 15),
                  minimum = dmin * static_cast<float>(src[g] >> 4);
      for (int i = 0; i < 16; ++i) out[16 * g + i] = scale * static_cast<float>(codes[16 * g + i]) - minimum;
    }
  }
}

void q3_k(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 110, out += 256) {
    int8_t codes[256];
    two_bit_codes(src + 32, 4, codes);
    for (int g = 0; g < 8; ++g)
      for (int i = 0; i < 32; i += 16)
        store(codes + 32 * g + i, load_codes(codes + 32 * g + i) + ((load_bytes(src + i) >> g & 1) << 2));
    const uint8_t* s = src + 96;
    const float d = half_at(src + 108);
    for (int g = 0; g < 16; ++g) {
      const int low = g < 8 ? s[g] & 15 : s[g - 8] >> 4;
      const int scale = (low | (s[8 + g % 4] >> 2 * (g / 4) & 3) << 4) - 32;
      scaled<16>(d * static_cast<float>(scale), codes + 16 * g, out + 16 * g);
    }
  }
}

/// A byte holds five digits of base 3 as a fraction of 256; multiplied by 3^n, the carry out of the byte is
/// digit n.
void tq1_0(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 54, out += 256) {
    int8_t codes[256];
    int power = 1;
    for (int n = 0; n < 5; ++n, power *= 3) {
      ternary_digits<32>(src, power, codes + 32 * n);
      ternary_digits<16>(src + 32, power, codes + 160 + 16 * n);
      if (n < 4) ternary_digits<4>(src + 48, power, codes + 240 + 4 * n);
    }
    scaled<256>(half_at(src + 52), codes, out);
  }
}

void tq2_0(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 66, out += 256) {
    int8_t codes[256];
    two_bit_codes(src, 1, codes);
    scaled<256>(half_at(src + 64), codes, out);
  }
}

void iq4_nl(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  const auto unpack = [](const uint8_t* in, int8_t* codes) { placed_nibbles(in + 2, kIq4Values, codes); };
  for_chunks<18>(src, blocks, out, unpack,
                 [](const uint8_t* in, const int8_t* codes, float* y) { scaled<32>(half_at(in), codes, y); });
}

void iq4_xs(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 136, out += 256) {
    int8_t codes[256];
    for (int g = 0; g < 8; ++g) placed_nibbles(src + 8 + 16 * g, kIq4Values, codes + 32 * g);
    const float d = half_at(src);
    const uint32_t upper = load_u16(src + 2);
    for (int g = 0; g < 8; ++g) {
      const uint32_t scale = (src[4 + g / 2] >> 4 * (g % 2) & 15u) | (upper >> 2 * g & 3) << 4;
      scaled<32>(d * static_cast<float>(static_cast<int>(scale) - 32), codes + 32 * g, out + 32 * g);
    }
  }
}

/// The scale is a power of two, a byte of exponent (E8M0), halved because the table holds E2M1 doubled.
void mxfp4(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  const auto unpack = [](const uint8_t* in, int8_t* codes) { placed_nibbles(in + 1, kE2m1Doubled, codes); };
  for_chunks<17>(src, blocks, out, unpack, [](const uint8_t* in, const int8_t* codes, float* y) {
    const uint32_t e = in[0];
    scaled<32>(float_of(e < 2 ? 0x200000u << e : (e - 1) << 23), codes, y);
  });
}

void nvfp4(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 36, out += 64) {
    int8_t codes[64];
    for (int g = 0; g < 4; g += 2) {
      int8_t nibble[32];  // of two groups of 16: low nibbles of both, then high ones
      placed_nibbles(src + 4 + 8 * g, kE2m1Doubled, nibble);
      for (int i = 0; i < 4; ++i) memcpy(codes + 16 * g + 8 * i, nibble + 8 * (i / 2 + 2 * (i % 2)), 8);
    }
    for (int g = 0; g < 4; ++g) scaled<16>(half_of_e4m3(src[g]), codes + 16 * g, out + 16 * g);
  }
}

}  // namespace GGUF_ISA
}  // namespace gguf
