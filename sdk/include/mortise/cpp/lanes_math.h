// exp, tanh and erfc on lanes: one polynomial each for every lane, tail and instruction set, instead of libm.
// Thread rule: pure functions. Flow: as lanes.h; kernels of activations, soft caps and softmax use them.
//
// Errors against float64 over all of the range, checked by tests/plugins/ops: exp 2 ulp, tanh 3 ulp, erfc
// 1e-6 relative where |x| <= 3. The coefficients are Chebyshev fits made for this file.
#pragma once
#include <mortise/cpp/lanes.h>

namespace mortise::lanes {
namespace {

/// c[0] x^(n-1) + .. + c[n-1]
template <size_t n>
MORTISE_INLINE F32 polynomial(const F32& x, const float (&c)[n]) {
  F32 r = all(c[0]);
  MORTISE_REPEAT(n - 1, i, r = r * x + all(c[i + 1]));
  return r;
}

/// e^x; 0 below -87.3365 (where the result would be subnormal), infinity above 88.7228, NaN for NaN.
MORTISE_INLINE F32 exp(const F32& x) {
  constexpr float kLog2E = 1.44269504f, kHighest = 88.7228317f, kLowest = -87.3365402f;
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  // ln 2 in two parts; the first has so few bits that its product with an integer is exact.
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kTail[] = {0.001392625083f, 0.008363232884f, 0.04166655421f, 0.1666657667f, 0.5f};
  const F32 bounded = max(where_less(all(kHighest), x, all(kHighest), x), all(kLowest));
  const F32 shifted = bounded * all(kLog2E) + all(kRounder);
  const F32 n = shifted - all(kRounder);
  const F32 r = (bounded - n * all(kLn2High)) - n * all(kLn2Low);
  const F32 e = r * r * polynomial(r, kTail) + r + all(1.0f);
  // 2^n as a product of two, since 2^128 is no float.
  const I32 power = bits(shifted) - bits(all(kRounder));
  const I32 half = right<1>(power);
  const F32 first = floats(left<23>(half + all(int32_t{127})));
  const F32 second = floats(left<23>(power - half + all(int32_t{127})));
  F32 result = e * first * second;
  result = where_less(all(kHighest), x, all(__builtin_inff()), result);
  result = where_less(x, all(kLowest), zero(), result);
  return select_nan(x, x, result);
}

MORTISE_INLINE F32 tanh(const F32& x) {
  constexpr float kSmall = 0.625f;
  constexpr float kOdd[] = {-0.006096714166f, 0.020997179f, -0.05385090958f, 0.1333276974f, -0.3333332894f};
  const F32 size = abs(x);
  const F32 square = x * x;
  const F32 near = x * square * polynomial(square, kOdd) + x;
  const F32 far = all(1.0f) - all(2.0f) / (exp(size + size) + all(1.0f));
  const I32 sign = bits(x) & all(INT32_MIN);
  return select_nan(x, x, where_less(size, all(kSmall), near, floats(bits(far) | sign)));
}

/// 1 - erf(x), from a polynomial of e^(z^2) erfc(z) in t = 1 / (1 + z / 2), z = |x| <= 9.5.
MORTISE_INLINE F32 erfc(const F32& x) {
  constexpr float kScaled[] = {-0.05933812592f, 0.2859796718f, -0.4902760469f, 0.2817421934f, -0.02923109825f,
                               0.2038022609f,   0.2428240907f, 0.2824126132f,  0.2820844014f};
  const F32 z = abs(x);
  const F32 t = all(1.0f) / (all(1.0f) + all(0.5f) * z);
  const F32 upper = t * polynomial(t, kScaled) * exp(zero() - z * z);
  return where_less(x, zero(), all(2.0f) - upper, upper);
}

}  // namespace
}  // namespace mortise::lanes
