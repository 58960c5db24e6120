// The quantisers of the simple types. Thread rule: pure functions. Flow: see encode.h; layouts are those of
// docs/formats/gguf.md.
#include "encode.h"

#include <mortise/cpp/half.h>

#include <cstring>

#include "encode_fit.h"

namespace gguf::encode {
namespace {

constexpr int kBlock = 32;

void store_half(uint8_t* out, float value) {
  const uint16_t half = mortise::float_to_half(value);
  std::memcpy(out, &half, sizeof(half));
}

/// Codes 0 to 15 as nibbles, or 0 to 31 with their fifth bits in the word before the nibbles.
void pack(const int* codes, bool five_bits, uint8_t* out) {
  if (five_bits) {
    uint32_t fifth = 0;
    for (int i = 0; i < kBlock; ++i) fifth |= static_cast<uint32_t>(codes[i] >> 4) << i;
    std::memcpy(out, &fifth, sizeof(fifth));
    out += sizeof(fifth);
  }
  for (int i = 0; i < 16; ++i) out[i] = static_cast<uint8_t>((codes[i] & 15) | (codes[i + 16] & 15) << 4);
}

/// Q4_0 and Q5_0: the number of largest magnitude becomes code 0, that is, -half.
void symmetric(const float* x, const float* importance, int half, uint8_t* out) {
  float d = 0;
  if (importance != nullptr) {
    float weights[kBlock];
    weights_of<kBlock>(importance, weights);
    d = fit_symmetric<kBlock>(x, weights, half);
  } else {
    float extreme = 0;
    for (int i = 0; i < kBlock; ++i)
      if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
    d = extreme / static_cast<float>(-half);
  }
  const float scale = inverse(d);
  int codes[kBlock];
  for (int i = 0; i < kBlock; ++i) {
    const float code = x[i] * scale + (static_cast<float>(half) + 0.5f);
    codes[i] = static_cast<int>(std::min(std::max(code, 0.0f), static_cast<float>(2 * half - 1)));
  }
  store_half(out, d);
  pack(codes, half == 16, out + 2);
}

/// Q4_1 and Q5_1: the range from the smallest number to the largest.
void affine(const float* x, const float* importance, int top, uint8_t* out) {
  Affine fit;
  if (importance != nullptr) {
    float weights[kBlock];
    weights_of<kBlock>(importance, weights);
    fit = fit_affine<kBlock>(x, weights, top, kHalfMax);
  } else {
    const auto [low, high] = std::minmax_element(x, x + kBlock);
    fit = {(*high - *low) / static_cast<float>(top), *low};
  }
  const float scale = inverse(fit.scale);
  int codes[kBlock];
  for (int i = 0; i < kBlock; ++i) {
    const float code = (x[i] - fit.offset) * scale + 0.5f;
    codes[i] = static_cast<int>(std::min(std::max(code, 0.0f), static_cast<float>(top)));
  }
  store_half(out, fit.scale);
  store_half(out + 2, fit.offset);
  pack(codes, top == 31, out + 4);
}

}  // namespace

void f32(const float* x, const float*, uint64_t blocks, uint8_t* __restrict out) {
  for (uint64_t i = 0; i < blocks; ++i) std::memcpy(out + 4 * i, x + i, sizeof(float));
}

void f16(const float* x, const float*, uint64_t blocks, uint8_t* __restrict out) {
  for (uint64_t i = 0; i < blocks; ++i) store_half(out + 2 * i, x[i]);
}

void bf16(const float* x, const float*, uint64_t blocks, uint8_t* __restrict out) {
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint16_t value = mortise::float_to_bf16(x[i]);
    std::memcpy(out + 2 * i, &value, sizeof(value));
  }
}

void q8_0(const float* x, const float*, uint64_t blocks, uint8_t* __restrict out) {
  for (; blocks != 0; --blocks, x += kBlock, out += 34) {
    float extreme = 0;
    for (int i = 0; i < kBlock; ++i) extreme = std::max(extreme, std::fabs(x[i]));
    const float d = extreme / 127.0f, scale = inverse(d);
    store_half(out, d);
    for (int i = 0; i < kBlock; ++i) {
      // To nearest, halves away from zero.
      const float code = x[i] * scale;
      out[2 + i] = static_cast<uint8_t>(static_cast<int>(code + (code < 0 ? -0.5f : 0.5f)));
    }
  }
}

// One block after the other, each with its own part of the importance.
#define GGUF_BLOCKS(name, bytes, one, range)                                                     \
  void name(const float* x, const float* importance, uint64_t blocks, uint8_t* __restrict out) { \
    for (uint64_t b = 0; b < blocks; ++b)                                                        \
      one(x + kBlock * b, importance == nullptr ? nullptr : importance + kBlock * b, range,      \
          out + bytes * b);                                                                      \
  }
GGUF_BLOCKS(q4_0, 18, symmetric, 8)
GGUF_BLOCKS(q4_1, 20, affine, 15)
GGUF_BLOCKS(q5_0, 22, symmetric, 16)
GGUF_BLOCKS(q5_1, 24, affine, 31)
#undef GGUF_BLOCKS

}  // namespace gguf::encode
