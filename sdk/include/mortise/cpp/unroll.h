// Repetition at compile time: a body for each constant 0..n-1, so that small arrays live in registers.
// Thread rule: none. Flow: lanes.h and the kernels written in it. Internal linkage (see lanes.h).
#pragma once

#define MORTISE_INLINE inline __attribute__((always_inline))

namespace mortise::lanes {
namespace {

/// MORTISE_REPEAT(n, i, ..): statements with the constant i = 0..n-1, without a loop. Compilers keep an array
/// in registers only where every index is a constant, and unroll loops too late for that.
template <int number>
struct Constant {
  static constexpr int value = number;
  constexpr operator int() const { return number; }
};
template <int count, class Body>
MORTISE_INLINE void repeat(const Body& body) {
  if constexpr (count > 0) {
    repeat<count - 1>(body);
    body(Constant<count - 1>());
  }
}
#define MORTISE_REPEAT(count, i, ...) \
  ::mortise::lanes::repeat<count>([&](auto i) __attribute__((always_inline)) { __VA_ARGS__; })

}  // namespace
}  // namespace mortise::lanes
