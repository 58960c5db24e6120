// attention/naive: one row, the query heads of one KV head.
// Thread rule: pure functions, [worker]. Flow: naive.cc's run calls attend for each of its rows and KV heads.
#pragma once
#include "naive.h"

namespace attention_naive {

/// The tokens of one sequence's KV head.
struct Cache {
  const Layer& layer;
  const uint8_t* base;
  const uint32_t* blocks;  // ids in order of position
  uint32_t kv_head;

  void read_k(uint32_t position, float* out) const;  // [k_dim]
  void read_v(uint32_t position, float* out) const;  // [v_dim]
};

/// Floats of scratch that attend needs for sequences of up to `length` tokens.
uint64_t scratch_floats(const Layer& layer, uint64_t length);

/// softmax(scale * q K^T) V for the group's heads, q [group][k_dim], out [group][v_dim]. Every sum runs over
/// ascending positions, so that it depends on nothing but the row and the cache.
void attend(const Cache& cache, const float* q, int32_t position, float* out, float* scratch);

}  // namespace attention_naive
