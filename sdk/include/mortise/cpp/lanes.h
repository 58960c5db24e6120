// Sixteen float lanes whose results are the same bits on every instruction set: a fixed number of lanes, no
// fused multiply-add, constant trees, and tails that run through the same instructions as full vectors.
// Thread rule: plain values. Flow: the shipped portable kernels are written in these; a file that includes it
// is compiled once per instruction set, and the compiler maps the lanes to its registers.
//
// Everything has internal linkage: two builds of one function in one plugin must not be merged by the linker,
// or the base build would run instructions that the processor lacks. Kernel files include this header and no
// other C++ header for the same reason.
#pragma once
#include <mortise/cpp/unroll.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are never passed between object files

namespace mortise::lanes {
namespace {

constexpr int kLanes = 16;
#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif
constexpr int kParts = kLanes / kWidth;

typedef float Vec __attribute__((vector_size(kWidth * 4)));
typedef int32_t IVec __attribute__((vector_size(kWidth * 4)));
typedef float Vec8 __attribute__((vector_size(32)));
typedef float Vec4 __attribute__((vector_size(16)));

struct F32 {
  Vec v[kParts];
};
struct I32 {
  IVec v[kParts];
};

#define MORTISE_EACH(...) MORTISE_REPEAT(kParts, p, __VA_ARGS__)

#define MORTISE_LANES_BINARY(T, op)                      \
  MORTISE_INLINE T operator op(const T& a, const T& b) { \
    T r;                                                 \
    MORTISE_EACH(r.v[p] = a.v[p] op b.v[p]);             \
    return r;                                            \
  }
MORTISE_LANES_BINARY(F32, +)
MORTISE_LANES_BINARY(F32, -)
MORTISE_LANES_BINARY(F32, *)
MORTISE_LANES_BINARY(F32, /)
MORTISE_LANES_BINARY(I32, +)
MORTISE_LANES_BINARY(I32, -)
MORTISE_LANES_BINARY(I32, &)
MORTISE_LANES_BINARY(I32, |)
#undef MORTISE_LANES_BINARY

MORTISE_INLINE F32 all(float x) {
  F32 r;
  MORTISE_EACH(r.v[p] = Vec{} + x);
  return r;
}
MORTISE_INLINE I32 all(int32_t x) {
  I32 r;
  MORTISE_EACH(r.v[p] = IVec{} + x);
  return r;
}
MORTISE_INLINE F32 zero() {
  F32 r;
  MORTISE_EACH(r.v[p] = Vec{});
  return r;
}

MORTISE_INLINE F32 load(const float* from) {
  F32 r;
  MORTISE_EACH(__builtin_memcpy(&r.v[p], from + p * kWidth, sizeof(Vec)));
  return r;
}
MORTISE_INLINE void store(float* to, const F32& x) {
  MORTISE_EACH(__builtin_memcpy(to + p * kWidth, &x.v[p], sizeof(Vec)));
}

/// `count` < 16 values and `fill` in the other lanes; memory behind them is not touched.
MORTISE_INLINE F32 load(const float* from, size_t count, float fill = 0.0f) {
  alignas(64) float buffer[kLanes];
  for (size_t i = 0; i < kLanes; ++i) buffer[i] = fill;
  for (size_t i = 0; i < count; ++i) buffer[i] = from[i];
  return load(buffer);
}
MORTISE_INLINE void store(float* to, const F32& x, size_t count) {
  alignas(64) float buffer[kLanes];
  store(buffer, x);
  for (size_t i = 0; i < count; ++i) to[i] = buffer[i];
}

MORTISE_INLINE I32 bits(const F32& x) {
  I32 r;
  MORTISE_EACH(r.v[p] = reinterpret_cast<IVec>(x.v[p]));
  return r;
}
MORTISE_INLINE F32 floats(const I32& x) {
  F32 r;
  MORTISE_EACH(r.v[p] = reinterpret_cast<Vec>(x.v[p]));
  return r;
}
template <int shift>
MORTISE_INLINE I32 left(const I32& x) {
  I32 r;
  MORTISE_EACH(r.v[p] = x.v[p] << shift);
  return r;
}
template <int shift>
MORTISE_INLINE I32 right(const I32& x) {
  I32 r;
  MORTISE_EACH(r.v[p] = x.v[p] >> shift);
  return r;
}

/// a < b ? x : y in each lane; false where one is NaN.
MORTISE_INLINE F32 where_less(const F32& a, const F32& b, const F32& x, const F32& y) {
  F32 r;
  MORTISE_EACH(r.v[p] = a.v[p] < b.v[p] ? x.v[p] : y.v[p]);
  return r;
}
/// x where `of` is NaN, else y.
MORTISE_INLINE F32 select_nan(const F32& of, const F32& x, const F32& y) {
  F32 r;
  MORTISE_EACH(r.v[p] = of.v[p] != of.v[p] ? x.v[p] : y.v[p]);
  return r;
}
/// The larger one, b where one is NaN.
MORTISE_INLINE F32 max(const F32& a, const F32& b) { return where_less(b, a, a, b); }
MORTISE_INLINE F32 abs(const F32& x) { return floats(bits(x) & all(int32_t{0x7fffffff})); }

/// Folds to four lanes: lane i with i + 8, then with i + 4.
template <class Op>
MORTISE_INLINE Vec4 fold(F32 x, Op op) {
  if constexpr (kParts == 4) MORTISE_REPEAT(2, p, x.v[p] = op(x.v[p], x.v[p + 2 % kParts]));
  if constexpr (kParts >= 2) x.v[0] = op(x.v[0], x.v[1 % kParts]);
#if defined(__AVX512F__)
  const Vec8 low = __builtin_shufflevector(x.v[0], x.v[0], 0, 1, 2, 3, 4, 5, 6, 7);
  const Vec8 high = __builtin_shufflevector(x.v[0], x.v[0], 8, 9, 10, 11, 12, 13, 14, 15);
  const Vec8 eight = op(low, high);
#elif defined(__AVX2__)
  const Vec8 eight = x.v[0];
#endif
#if defined(__AVX2__)
  return op(__builtin_shufflevector(eight, eight, 0, 1, 2, 3),
            __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
#else
  return x.v[0];
#endif
}
template <class Op>
MORTISE_INLINE float fold1(const F32& x, Op op) {
  const Vec4 four = fold(x, op);
  const Vec4 two = op(four, __builtin_shufflevector(four, four, 2, 3, 2, 3));
  return op(two, __builtin_shufflevector(two, two, 1, 1, 1, 1))[0];
}

struct Add {
  template <class V>
  MORTISE_INLINE V operator()(const V& a, const V& b) const {
    return a + b;
  }
};
struct Max {
  template <class V>
  MORTISE_INLINE V operator()(const V& a, const V& b) const {
    return b < a ? a : b;
  }
};

/// The sum of all lanes, by halves.
MORTISE_INLINE float sum(const F32& x) { return fold1(x, Add()); }
MORTISE_INLINE float largest(const F32& x) { return fold1(x, Max()); }

/// Four sums at once, each the same bits as sum().
MORTISE_INLINE Vec4 sums(const F32& a, const F32& b, const F32& c, const F32& d) {
  const Vec4 fa = fold(a, Add()), fb = fold(b, Add()), fc = fold(c, Add()), fd = fold(d, Add());
  const Vec4 ab = __builtin_shufflevector(fa, fb, 0, 1, 4, 5) + __builtin_shufflevector(fa, fb, 2, 3, 6, 7);
  const Vec4 cd = __builtin_shufflevector(fc, fd, 0, 1, 4, 5) + __builtin_shufflevector(fc, fd, 2, 3, 6, 7);
  return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}

}  // namespace
}  // namespace mortise::lanes
