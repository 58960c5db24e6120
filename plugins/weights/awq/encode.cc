// Rounding to AWQ's four bits. Thread rule and flow: see encode.h. Compiled with -O3.
#include "encode.h"

#include <mortise/cpp/half.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace awq {
namespace {

constexpr float kLevels = 15;
constexpr float kLeastSpan = 1e-5f;  // AutoAWQ's, so that a group of zeros has a scale
constexpr int kSpans = 9;            // tried with importance: 100 % to 60 % of the whole one
constexpr float kSpanStep = 0.05f;

struct Grid {
  uint16_t scale_bits = 0;
  float scale = 0, zero = 0;

  float code(float w) const { return std::clamp(std::nearbyintf(w / scale) + zero, 0.0f, kLevels); }
  float value(float w) const { return (code(w) - zero) * scale; }
};

/// Codes are counted in the scale as it is stored, not as it was before rounding.
Grid grid_of(float low, float high) {
  Grid out;
  out.scale_bits = mortise::float_to_half(std::max(high - low, kLeastSpan) / kLevels);
  out.scale = mortise::half_to_float(out.scale_bits);
  out.zero = std::clamp(std::nearbyintf(-low / out.scale), 0.0f, kLevels);
  return out;
}

double error_of(const Grid& grid, const float* x, const float* importance, uint64_t count) {
  double sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double off = double(grid.value(x[i])) - double(x[i]);
    sum += double(importance[i]) * off * off;
  }
  return sum;
}

Grid best_grid(const float* x, const float* importance, uint64_t count) {
  float low = 0, high = 0;
  bool finite = true;
  for (uint64_t i = 0; i < count; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
    finite = finite && std::isfinite(x[i]);
  }
  if (!finite) low = -std::numeric_limits<float>::infinity();
  Grid best = grid_of(low, high);
  if (importance == nullptr || !std::isfinite(best.scale)) return best;
  double least = error_of(best, x, importance, count);
  for (int i = 1; i < kSpans; ++i) {
    const float part = 1 - kSpanStep * static_cast<float>(i);
    const Grid grid = grid_of(low * part, high * part);
    const double error = error_of(grid, x, importance, count);
    if (error < least) {
      least = error;
      best = grid;
    }
  }
  return best;
}

}  // namespace

bool encode_rows(const Shape& shape, uint64_t row0, uint64_t rows, const float* x, const float* importance,
                 Planes* out) {
  for (uint64_t row = row0; row < row0 + rows; ++row, x += shape.in) {
    const uint64_t c = row / kWordCodes;
    const uint32_t shift = kBits * kNibble[row % kWordCodes];
    for (uint64_t g = 0; g < shape.groups(); ++g) {
      const uint64_t k0 = g * shape.group;
      const Grid grid = best_grid(x + k0, importance == nullptr ? nullptr : importance + k0, shape.group);
      if (!std::isfinite(grid.scale)) return false;
      out->scales[g * shape.out + row] = grid.scale_bits;
      out->zeros[g * shape.words() + c] |= static_cast<uint32_t>(grid.zero) << shift;
      for (uint64_t k = k0; k < k0 + shape.group; ++k)
        out->codes[k * shape.words() + c] |= static_cast<uint32_t>(grid.code(x[k])) << shift;
    }
  }
  return true;
}

}  // namespace awq
