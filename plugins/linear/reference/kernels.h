// The arithmetic of linear/reference: dot products of float rows, one table of functions per instruction set.
// Thread rule: pure functions, [worker]. Flow: linear.cc decodes a few weight rows and calls dot_rows on
// them.
#pragma once
#include <stddef.h>

namespace linear_reference {

/// y[i][j] = sum_k x[i][k] * w[j][k] (+ bias[j]) (+ add[i][j]) for m rows of x and n rows of w.
/// Strides in floats; add may be y itself.
struct Dots {
  const float* x;
  size_t x_stride, m;
  const float* w;  // [n][k]
  size_t n, k;
  float* y;
  size_t y_stride;
  const float* bias;  // [n] or null
  const float* add;   // [m][add_stride] or null
  size_t add_stride;
};

struct Kernels {
  void (*dot_rows)(const Dots& dots);
};

extern const Kernels kernels_base, kernels_avx2, kernels_avx512;

}  // namespace linear_reference
