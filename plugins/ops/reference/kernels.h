// The arithmetic of ops/reference on one row, one table of functions per instruction set.
// Thread rule: pure functions, [worker]. Flow: ops.cc calls one of them for each row of a task.
#pragma once
#include <stddef.h>

namespace ops_reference {

enum class Activation { silu, gelu, gelu_tanh, relu, relu2 };

/// How act_mul makes one number of gate and up.
struct Gate {
  Activation kind = Activation::silu;
  bool is_clamped = false;  // swiglu_clamped: alpha and limit instead of a kind
  float alpha = 0, limit = 0;
  bool is_paired = false;  // one input: gate, up, gate, up, ..
};

struct Mul {
  bool is_column = false;  // b is one number, which multiplies the whole row
  bool sigmoid_b = false;
};

struct Norm {
  bool rms;  // else layer: the mean is subtracted first
  float eps;
  size_t width;         // normalises each run of `width` columns
  const float* weight;  // [width] or null: 1
  const float* bias;    // [width] or null: 0
};

struct Rope {
  size_t head_dim, dims;  // the first `dims` columns of each head are rotated, the others kept
  bool interleaved;       // pairs (2i, 2i + 1), else (i, i + dims / 2)
};

/// `n` columns of a row's result; out may be the first input where it has as many.
struct Kernels {
  void (*norm)(const Norm& norm, const float* x, float* out, size_t n);
  void (*add)(const float* a, const float* b, float scale_b, float* out, size_t n);
  void (*mul)(const Mul& mul, const float* a, const float* b, float* out, size_t n);
  void (*scale)(const float* x, float c, float* out, size_t n);
  void (*softcap)(const float* x, float c, float* out, size_t n);
  void (*act)(Activation kind, const float* x, float* out, size_t n);
  /// up is null where the gate is paired.
  void (*act_mul)(const Gate& gate, const float* gates, const float* ups, float* out, size_t n);
  /// out = sum of weights[i] * y[i][n] over `parts`, i ascending.
  void (*combine)(const float* y, const float* weights, size_t parts, float* out, size_t n);
  void (*rope)(const Rope& rope, const float* x, const float* table, float* out, size_t n);
};

extern const Kernels kernels_base, kernels_avx2, kernels_avx512;

}  // namespace ops_reference
