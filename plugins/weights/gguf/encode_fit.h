// Fits of a short run of numbers to steps of a scale, by least squares over weights: what the quantisers of
// encode.cc and encode_k.cc search with. Thread rule: pure functions. Flow: see encode.h.
//
// The search is the one that ggml publishes for its K types: a grid of scales around the one that the extreme
// values suggest; for each, the codes that it gives and then the scale (and offset) that suits those codes
// best. The error counted here is plain: weight * (value - number)^2.
#pragma once
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

namespace gguf::encode {

/// Four numbers at once: their sums run in four chains, in the same order whatever the processor.
typedef float Lanes __attribute__((vector_size(16)));
typedef int Ints __attribute__((vector_size(16)));
constexpr int kLanes = 4;

inline Lanes load(const float* x) {
  Lanes out;
  std::memcpy(&out, x, sizeof(out));
  return out;
}
inline float sum(Lanes v) { return (v[0] + v[1]) + (v[2] + v[3]); }

/// 1 / d; 0 where that is no finite number, so that codes made with it are defined.
inline float inverse(float d) {
  const float out = 1.0f / d;
  return std::fabs(out) <= FLT_MAX ? out : 0.0f;
}

/// The whole number nearest to v in [low, high]; v is not NaN. Halves go up.
inline int nearest(float v, int low, int high) {
  const float kept = std::min(std::max(v, static_cast<float>(low)), static_cast<float>(high));
  return static_cast<int>(kept - static_cast<float>(low) + 0.5f) + low;
}

/// The same for four, as floats.
inline Lanes nearest(Lanes v, float low, float high) {
  v = v > low ? v : Lanes{} + low;
  v = v < high ? v : Lanes{} + high;
  return __builtin_convertvector(__builtin_convertvector(v - low + 0.5f, Ints), Lanes) + low;
}

/// x = scale * code + offset with codes 0 to `top`.
struct Affine {
  float scale = 0, offset = 0;
};

template <int n>
float error_of(const Affine& fit, const float* x, const float* weights, int top) {
  const float inverse_scale = inverse(fit.scale);
  Lanes out = {};
  for (int i = 0; i < n; i += kLanes) {
    const Lanes code = nearest((load(x + i) - fit.offset) * inverse_scale, 0, static_cast<float>(top));
    const Lanes off = code * fit.scale + fit.offset - load(x + i);
    out += load(weights + i) * off * off;
  }
  return sum(out);
}

/// The scale and offset, of numbers u from 0 to 1, that have the least error for the codes of u * steps; the
/// offset stays at or below its limit. w, wu: the sums of weight and of weight * u. `gain`: what the fit
/// takes off the sum of weight * u^2. False where the codes do not determine a fit.
template <int n>
bool refit(const float* u, const float* weights, float w, float wu, float steps, int top, float offset_limit,
           Affine* out, float* gain) {
  Lanes lane_wq = {}, lane_wqq = {}, lane_wuq = {};
  for (int i = 0; i < n; i += kLanes) {
    const Lanes code = nearest(load(u + i) * steps, 0, static_cast<float>(top));
    const Lanes weighted = load(weights + i) * code;
    lane_wq += weighted;
    lane_wqq += weighted * code;
    lane_wuq += weighted * load(u + i);
  }
  const float wq = sum(lane_wq), wqq = sum(lane_wqq), wuq = sum(lane_wuq);
  const float determinant = w * wqq - wq * wq;
  if (!(determinant > 0)) return false;
  float scale = (w * wuq - wu * wq) / determinant, offset = (wqq * wu - wq * wuq) / determinant;
  if (offset > offset_limit) {
    offset = offset_limit;
    scale = (wuq - offset * wq) / wqq;
  }
  *out = {scale, offset};
  *gain =
      2 * (scale * wuq + offset * wu) - (scale * scale * wqq + 2 * scale * offset * wq + offset * offset * w);
  return scale > 0;
}

constexpr float kHalfMax = 65504;  // the largest half

/// The best of some fits. `offset_limit` is 0 for types whose offset cannot be above 0, else kHalfMax; no fit
/// has an offset below -kHalfMax.
template <int n>
Affine fit_affine(const float* x, const float* weights, int top, float offset_limit) {
  float low = std::min(x[0], offset_limit), high = x[0];
  for (int i = 1; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  const float range = high - low, to_unit = inverse(range);
  if (to_unit == 0) return {0, low};
  float u[n], w = 0, wu = 0;
  for (int i = 0; i < n; ++i) {
    u[i] = (x[i] - low) * to_unit;
    w += weights[i];
    wu += weights[i] * u[i];
  }
  Affine best = {1.0f / static_cast<float>(top), 0};
  float best_gain = -FLT_MAX;
  for (int step = -10; step <= 10; ++step) {
    const float steps = static_cast<float>(top) + 0.1f * static_cast<float>(step);
    Affine fit;
    float gain = 0;
    if (!refit<n>(u, weights, w, wu, steps, top, (offset_limit - low) * to_unit, &fit, &gain)) continue;
    if (low + fit.offset * range < -kHalfMax) continue;
    if (gain > best_gain) {
      best = fit;
      best_gain = gain;
    }
  }
  return {best.scale * range, low + best.offset * range};
}

/// x = scale * code with codes -half to half - 1; the scale may be negative. 0 where all numbers are 0.
template <int n>
float fit_symmetric(const float* x, const float* weights, int half) {
  float extreme = 0;
  for (int i = 0; i < n; ++i)
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  if (extreme == 0) return 0;
  float best = extreme / static_cast<float>(-half), best_gain = -1;
  for (int step = -10; step <= 10; ++step) {
    const float inverse_scale = -(static_cast<float>(half) + 0.1f * static_cast<float>(step)) / extreme;
    if (!(std::fabs(inverse_scale) <= FLT_MAX)) break;
    Lanes lane_wqq = {}, lane_wxq = {};
    for (int i = 0; i < n; i += kLanes) {
      const Lanes code =
          nearest(load(x + i) * inverse_scale, static_cast<float>(-half), static_cast<float>(half - 1));
      const Lanes weighted = load(weights + i) * code;
      lane_wqq += weighted * code;
      lane_wxq += weighted * load(x + i);
    }
    const float wqq = sum(lane_wqq), wxq = sum(lane_wxq);
    // What the best scale for these codes takes off the sum of squares.
    const float gain = wqq > 0 ? wxq * wxq / wqq : -1;
    if (gain > best_gain) {
      best_gain = gain;
      best = wxq / wqq;
    }
  }
  return best;
}

/// Weights of `n` numbers for a fit: the importance, scaled so that sums stay in range; all 1 without one, or
/// where none of the numbers matters.
template <int n>
void weights_of(const float* importance, float* weights) {
  const float largest = importance == nullptr ? 0 : *std::max_element(importance, importance + n);
  for (int i = 0; i < n; ++i) weights[i] = largest > 0 ? importance[i] / largest : 1.0f;
}

}  // namespace gguf::encode
