// The quantisers of Q4_K, Q5_K and Q6_K. Thread rule: pure functions. Flow: see encode.h; layouts are those
// of docs/formats/gguf.md.
//
// Each group is fitted alone (encode_fit.h). A block's scales are then whole multiples of one half; the
// multiples around the fitted scale are tried, and the codes are made from the scales as stored.
#include <mortise/cpp/half.h>

#include <cstring>

#include "encode.h"
#include "encode_fit.h"

namespace gguf::encode {
namespace {

constexpr int kBlock = 256;

/// Stores the half nearest to `value` and returns its value. Among the smallest halves, where the nearest may
/// be much smaller, it is the next larger one: the multiples must reach what `value` stands for.
float store_half(uint8_t* out, float value) {
  uint16_t half = mortise::float_to_half(value);
  if (std::fabs(mortise::half_to_float(half)) < std::fabs(value) * (255.0f / 256)) ++half;
  std::memcpy(out, &half, sizeof(half));
  return mortise::half_to_float(half);
}

/// Multiples of the block's scale and minimum, 0 to 63.
struct Multiples {
  int scale, minimum;
};

/// The multiples near a group's own fit with the least error.
Multiples best_multiples(const Affine& fit, const float* x, const float* weights, int top, float d,
                         float dmin) {
  const int scale = nearest(fit.scale * inverse(d), 0, 63),
            minimum = nearest(-fit.offset * inverse(dmin), 0, 63);
  Multiples best = {scale, minimum};
  float best_error = FLT_MAX;
  for (int s = std::max(scale - 1, 0); s <= std::min(scale + 1, 63); ++s)
    for (int m = std::max(minimum - 1, 0); m <= std::min(minimum + 1, 63); ++m) {
      const Affine stored = {d * static_cast<float>(s), -dmin * static_cast<float>(m)};
      const float error = error_of<32>(stored, x, weights, top);
      if (error < best_error) {
        best_error = error;
        best = {s, m};
      }
    }
  return best;
}

/// The 12 bytes of multiples, the inverse of what the decoder's group_of reads.
void pack_multiples(const Multiples* groups, uint8_t* out) {
  for (int g = 0; g < 4; ++g) {
    const Multiples &low = groups[g], &high = groups[g + 4];
    out[g] = static_cast<uint8_t>(low.scale | (high.scale >> 4) << 6);
    out[g + 4] = static_cast<uint8_t>(low.minimum | (high.minimum >> 4) << 6);
    out[g + 8] = static_cast<uint8_t>((high.scale & 15) | (high.minimum & 15) << 4);
  }
}

/// Header (d, dmin, multiples) of a Q4_K or Q5_K block, and its codes 0 to `top`.
void quantize(const float* x, const float* importance, int top, uint8_t* out, uint8_t* codes) {
  float weights[kBlock];
  Affine fits[8];
  float scale_max = 0, minimum_max = 0;
  for (int g = 0; g < 8; ++g) {
    weights_of<32>(importance == nullptr ? nullptr : importance + 32 * g, weights + 32 * g);
    fits[g] = fit_affine<32>(x + 32 * g, weights + 32 * g, top, 0);
    scale_max = std::max(scale_max, fits[g].scale);
    minimum_max = std::max(minimum_max, -fits[g].offset);
  }
  const float d = store_half(out, scale_max / 63), dmin = store_half(out + 2, minimum_max / 63);
  Multiples multiples[8];
  for (int g = 0; g < 8; ++g) {
    const float* group = x + 32 * g;
    multiples[g] = best_multiples(fits[g], group, weights + 32 * g, top, d, dmin);
    const float inverse_scale = inverse(d * static_cast<float>(multiples[g].scale));
    const float minimum = dmin * static_cast<float>(multiples[g].minimum);
    for (int i = 0; i < 32; ++i)
      codes[32 * g + i] = static_cast<uint8_t>(nearest((group[i] + minimum) * inverse_scale, 0, top));
  }
  pack_multiples(multiples, out + 4);
}

void q6_block(const float* x, const float* importance, uint8_t* out) {
  float scales[16], extreme = 0;
  for (int g = 0; g < 16; ++g) {
    float weights[16];
    weights_of<16>(importance == nullptr ? nullptr : importance + 16 * g, weights);
    scales[g] = fit_symmetric<16>(x + 16 * g, weights, 32);
    if (std::fabs(scales[g]) > std::fabs(extreme)) extreme = scales[g];
  }
  const float d = store_half(out + 208, extreme / -128);
  uint8_t codes[kBlock];
  for (int g = 0; g < 16; ++g) {
    const int multiple = nearest(scales[g] * inverse(d), -128, 127);
    out[192 + g] = static_cast<uint8_t>(multiple);
    const float inverse_scale = inverse(d * static_cast<float>(multiple));
    for (int i = 0; i < 16; ++i)
      codes[16 * g + i] = static_cast<uint8_t>(nearest(x[16 * g + i] * inverse_scale, -32, 31) + 32);
  }
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 32; ++i) {
      const uint8_t* c = codes + 128 * h + i;
      out[64 * h + i] = static_cast<uint8_t>((c[0] & 15) | (c[64] & 15) << 4);
      out[64 * h + i + 32] = static_cast<uint8_t>((c[32] & 15) | (c[96] & 15) << 4);
      out[128 + 32 * h + i] =
          static_cast<uint8_t>(c[0] >> 4 | (c[32] >> 4) << 2 | (c[64] >> 4) << 4 | (c[96] >> 4) << 6);
    }
}

const float* part(const float* importance, uint64_t block) {
  return importance == nullptr ? nullptr : importance + kBlock * block;
}

}  // namespace

void q4_k(const float* x, const float* importance, uint64_t blocks, uint8_t* __restrict out) {
  for (uint64_t b = 0; b < blocks; ++b, out += 144) {
    uint8_t codes[kBlock];
    quantize(x + kBlock * b, part(importance, b), 15, out, codes);
    for (int g = 0; g < 4; ++g)
      for (int i = 0; i < 32; ++i)
        out[16 + 32 * g + i] = static_cast<uint8_t>(codes[64 * g + i] | codes[64 * g + 32 + i] << 4);
  }
}

void q5_k(const float* x, const float* importance, uint64_t blocks, uint8_t* __restrict out) {
  for (uint64_t b = 0; b < blocks; ++b, out += 176) {
    uint8_t codes[kBlock];
    quantize(x + kBlock * b, part(importance, b), 31, out, codes);
    std::memset(out + 16, 0, 32);
    for (int g = 0; g < 4; ++g)
      for (int i = 0; i < 32; ++i) {
        const int low = codes[64 * g + i], high = codes[64 * g + 32 + i];
        out[16 + i] |= static_cast<uint8_t>((low >> 4) << 2 * g | (high >> 4) << (2 * g + 1));
        out[48 + 32 * g + i] = static_cast<uint8_t>((low & 15) | (high & 15) << 4);
      }
  }
}

void q6_k(const float* x, const float* importance, uint64_t blocks, uint8_t* __restrict out) {
  for (uint64_t b = 0; b < blocks; ++b) q6_block(x + kBlock * b, part(importance, b), out + 210 * b);
}

}  // namespace gguf::encode
