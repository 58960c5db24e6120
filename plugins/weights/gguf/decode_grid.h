// Decoders of the types whose codes name a point of a grid: eight numbers at once, for IQ3 four. Included by
// each decode_*.cc behind decode_impl.h, whose rules hold here. Thread rule: pure functions. Flow: reached
// through the table in types.cc.
#pragma once
#include "decode.h"
#include "decode_parts.h"
#include "grids.h"

namespace gguf {
namespace GGUF_ISA {
namespace {

/// A grid point with a sign bit a number, bit 0 for the first. No number of it is 0, so that no negation
/// carries into its neighbour.
inline void store_signed(uint64_t point, uint32_t signs, int8_t* codes) {
  const uint64_t bit = signs * 0x0101010101010101u & 0x8040201008040201u;
  const uint64_t ones = (bit + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
  const uint64_t value = (point ^ ones * 0xff) + ones;
  memcpy(codes, &value, sizeof(value));
}

inline uint64_t two_points(const uint32_t* grid, uint32_t first, uint32_t second) {
  return grid[first] | static_cast<uint64_t>(grid[second]) << 32;
}

/// Scales of groups of 16 out of nibbles, as IQ2_XS and IQ2_S have them.
inline void scale_sixteens(float d, const uint8_t* s, const int8_t* codes, float* out) {
  for (int g = 0; g < 16; ++g) {
    const float step = static_cast<float>(s[g / 2] >> 4 * (g % 2) & 15);
    scaled<16>(d * (0.5f + step) * 0.25f, codes + 16 * g, out + 16 * g);
  }
}

/// Eight numbers of IQ1: the point -1, 0 or 1 a number, moved by an eighth.
inline void store_shifted(uint32_t index, float scale, bool down, float* y) {
  const uint64_t point = kGridIq1[index];
  int8_t codes[8];
  memcpy(codes, &point, sizeof(point));
  const float shift = down ? -0.125f : 0.125f;
  for (int i = 0; i < 8; ++i) y[i] = scale * (static_cast<float>(codes[i]) + shift);
}

}  // namespace

void iq2_xxs(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 66, out += 256) {
    int8_t codes[256];
    for (int g = 0; g < 32; ++g) {
      const uint32_t signs = load_u32(src + 6 + 8 * (g / 4)) >> 7 * (g % 4) & 127;
      store_signed(kGridIq2xxs[src[2 + 8 * (g / 4) + g % 4]], kSigns[signs], codes + 8 * g);
    }
    const float d = half_at(src);
    for (int g = 0; g < 8; ++g) {
      const float step = static_cast<float>(load_u32(src + 6 + 8 * g) >> 28);
      scaled<32>(d * (0.5f + step) * 0.25f, codes + 32 * g, out + 32 * g);
    }
  }
}

void iq2_xs(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 74, out += 256) {
    int8_t codes[256];
    for (int g = 0; g < 32; ++g) {
      const uint32_t q = load_u16(src + 2 + 2 * g);
      store_signed(kGridIq2xs[q & 511], kSigns[q >> 9], codes + 8 * g);
    }
    scale_sixteens(half_at(src), src + 66, codes, out);
  }
}

void iq2_s(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 82, out += 256) {
    int8_t codes[256];
    for (int g = 0; g < 32; ++g) {
      const uint32_t upper = src[66 + g / 4] >> 2 * (g % 4) & 3u;
      store_signed(kGridIq2s[src[2 + g] | upper << 8], src[34 + g], codes + 8 * g);
    }
    scale_sixteens(half_at(src), src + 74, codes, out);
  }
}

void iq3_xxs(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 98, out += 256) {
    int8_t codes[256];
    for (int g = 0; g < 32; ++g) {
      const uint32_t signs = load_u32(src + 66 + 4 * (g / 4)) >> 7 * (g % 4) & 127;
      const uint64_t point = two_points(kGridIq3xxs, src[2 + 2 * g], src[3 + 2 * g]);
      store_signed(point, kSigns[signs], codes + 8 * g);
    }
    const float d = half_at(src);
    for (int g = 0; g < 8; ++g) {
      const float step = static_cast<float>(load_u32(src + 66 + 4 * g) >> 28);
      scaled<32>(d * (0.5f + step) * 0.5f, codes + 32 * g, out + 32 * g);
    }
  }
}

void iq3_s(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 110, out += 256) {
    int8_t codes[256];
    for (int g = 0; g < 32; ++g) {
      const uint32_t upper = src[66 + g / 4] >> 2 * (g % 4) & 3u;
      const uint32_t first = src[2 + 2 * g] | (upper & 1) << 8, second = src[3 + 2 * g] | (upper >> 1) << 8;
      store_signed(two_points(kGridIq3s, first, second), src[74 + g], codes + 8 * g);
    }
    const float d = half_at(src);
    for (int g = 0; g < 8; ++g) {
      const int step = src[106 + g / 2] >> 4 * (g % 2) & 15;
      scaled<32>(d * static_cast<float>(1 + 2 * step), codes + 32 * g, out + 32 * g);
    }
  }
}

void iq1_s(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 50, out += 256) {
    const float d = half_at(src);
    for (int g = 0; g < 8; ++g) {
      const uint32_t h = load_u16(src + 34 + 2 * g);
      const float scale = d * static_cast<float>(2 * (h >> 12 & 7) + 1);
      for (int i = 0; i < 4; ++i)
        store_shifted(src[2 + 4 * g + i] | (h >> 3 * i & 7) << 8, scale, (h & 0x8000) != 0,
                      out + 32 * g + 8 * i);
    }
  }
}

/// The block's scale lies in the upper four bits of four words, whose other twelve hold four scales of groups
/// of 16.
void iq1_m(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out) {
  for (; blocks != 0; --blocks, src += 56, out += 256) {
    const uint8_t* s = src + 48;
    const float d = half_of(load_u16(s) >> 12 | (load_u16(s + 2) >> 8 & 0xf0) |
                            (load_u16(s + 4) >> 4 & 0xf00) | (load_u16(s + 6) & 0xf000));
    for (int g = 0; g < 32; ++g) {
      const uint32_t h = src[32 + g / 2] >> 4 * (g % 2) & 15u;
      const uint32_t step = load_u16(s + 2 * (g / 8)) >> 3 * (g / 2 % 4) & 7;
      store_shifted(src[g] | (h & 7) << 8, d * static_cast<float>(2 * step + 1), (h & 8) != 0, out + 8 * g);
    }
  }
}

}  // namespace GGUF_ISA
}  // namespace gguf
