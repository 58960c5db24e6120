// Rounding to AWQ's four bits. Thread rule and flow: see encode.h. Compiled with -O3.
#include "encode.h"

#include <mortise/cpp/half.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace awq {
namespace {

constexpr float kLevels = 15;
constexpr float kLeastSpan = 1e-5f;  // AutoAWQ's, so that a group of zeros has a scale
constexpr int kSpans = 9;            // tried with importance: 100 % to 60 % of the whole one
constexpr float kSpanStep = 0.05f;
constexpr uint64_t kChunk = 512;  // words of one column that are made at once

/// x to nearest, ties to even, below 2^22: adding a number whose unit in the last place is 1 rounds. Unlike
/// the library's call it becomes vectors on every processor.
float nearest(float x) { return x + 0x1.8p23f - 0x1.8p23f; }

float limited(float code) {
  const float at_least = code < 0 ? 0 : code;
  return at_least > kLevels ? kLevels : at_least;
}

struct Grid {
  uint16_t scale_bits = 0;
  float scale = 0, zero = 0;

  float code(float w) const { return limited(nearest(w / scale) + zero); }
  float value(float w) const { return (code(w) - zero) * scale; }
};

/// Codes are counted in the scale as it is stored, not as it was before rounding.
Grid grid_of(float low, float high) {
  Grid out;
  out.scale_bits = mortise::float_to_half(std::max(high - low, kLeastSpan) / kLevels);
  out.scale = mortise::half_to_float(out.scale_bits);
  out.zero = limited(nearest(-low / out.scale));
  return out;
}

/// sum importance * error^2, in lanes for the compiler's vectors.
float error_of(const Grid& grid, const float* x, const float* importance, uint64_t count) {
  float sums[8] = {};
  for (uint64_t i = 0; i < count; i += 8)
    for (uint64_t j = 0; j < std::min<uint64_t>(8, count - i); ++j) {
      const float off = grid.value(x[i + j]) - x[i + j];
      sums[j] += importance[i + j] * off * off;
    }
  return std::accumulate(sums, sums + 8, 0.0f);
}

/// The least and largest of some values and 0. Eight of each side by side, for the compiler's vectors; false
/// where a value is not finite.
bool span_of(const float* x, uint64_t count, float* low, float* high) {
  float lows[8] = {}, highs[8] = {};
  uint32_t not_finite[8] = {};
  for (uint64_t i = 0; i < count; i += 8)
    for (uint64_t j = 0; j < std::min<uint64_t>(8, count - i); ++j) {
      const float v = x[i + j];
      lows[j] = v < lows[j] ? v : lows[j];
      highs[j] = v > highs[j] ? v : highs[j];
      not_finite[j] |= (mortise::float_bits(v) & 0x7f800000u) == 0x7f800000u ? 1 : 0;
    }
  *low = *std::min_element(lows, lows + 8);
  *high = *std::max_element(highs, highs + 8);
  return std::all_of(not_finite, not_finite + 8, [](uint32_t n) { return n == 0; });
}

/// A scale that is not finite where the weights are not.
Grid best_grid(const float* x, const float* importance, uint64_t count) {
  float low = 0, high = 0;
  if (!span_of(x, count, &low, &high)) high = std::numeric_limits<float>::infinity();
  Grid best = grid_of(low, high);
  if (importance == nullptr || !std::isfinite(best.scale)) return best;
  float least = error_of(best, x, importance, count);
  for (int i = 1; i < kSpans; ++i) {
    const float part = 1 - kSpanStep * static_cast<float>(i);
    const Grid grid = grid_of(low * part, high * part);
    const float error = error_of(grid, x, importance, count);
    if (error < least) {
      least = error;
      best = grid;
    }
  }
  return best;
}

/// Codes of rows row0 to row0 + 7, which share words, in columns [k0, k0 + count) of one group.
void encode_words(const Shape& shape, uint64_t row0, uint64_t k0, uint64_t count, const Grid* grids,
                  const float* x, Planes* out) {
  uint32_t words[kChunk] = {};
  for (uint32_t j = 0; j < kWordCodes; ++j) {
    const float* row = x + j * shape.in + k0;
    for (uint64_t i = 0; i < count; ++i)
      words[i] |= static_cast<uint32_t>(static_cast<int32_t>(grids[j].code(row[i]))) << kBits * kNibble[j];
  }
  for (uint64_t i = 0; i < count; ++i) out->codes[(k0 + i) * shape.words() + row0 / kWordCodes] = words[i];
}

}  // namespace

bool encode_rows(const Shape& shape, uint64_t row0, uint64_t rows, const float* x, const float* importance,
                 Planes* out) {
  for (uint64_t row = row0; row < row0 + rows; row += kWordCodes, x += kWordCodes * shape.in)
    for (uint64_t g = 0; g < shape.groups(); ++g) {
      const uint64_t first = g * shape.group, end = first + shape.group;
      Grid grids[kWordCodes];
      uint32_t zeros = 0;
      for (uint32_t j = 0; j < kWordCodes; ++j) {
        grids[j] = best_grid(x + j * shape.in + first, importance == nullptr ? nullptr : importance + first,
                             shape.group);
        if (!std::isfinite(grids[j].scale)) return false;
        out->scales[g * shape.out + row + j] = grids[j].scale_bits;
        zeros |= static_cast<uint32_t>(grids[j].zero) << kBits * kNibble[j];
      }
      out->zeros[g * shape.words() + row / kWordCodes] = zeros;
      for (uint64_t k = first; k < end; k += kChunk)
        encode_words(shape, row, k, std::min(kChunk, end - k), grids, x, out);
    }
  return true;
}

}  // namespace awq
