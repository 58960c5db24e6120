// attention/naive: softmax over all positions, written as the formula stands. The yardstick of attention
// plugins. Thread rule: instance and handle are constant after they are made. Flow: see attention.h of the
// SDK.
//
// A block is K [16 tokens][KV heads][k_dim], then V [16 tokens][KV heads][v_dim].
#pragma once
#include <mortise/cpp/attention.h>
#include <mortise/cpp/part.h>

namespace attention_naive {

class Naive {
 public:
  Naive(mortise::Host, const mortise::NoParams&) {}
};

/// A layer shape in one layout.
struct Layer {
  mortise::KvType type;
  mortise_attention_layer shape;

  uint32_t group() const { return shape.heads / shape.kv_heads; }
  uint64_t k_bytes() const { return mortise::kv_bytes(type) * shape.kv_heads * shape.k_dim; }  // of a token
  uint64_t v_bytes() const { return mortise::kv_bytes(type) * shape.kv_heads * shape.v_dim; }
  uint64_t block_bytes() const;
};

extern const mortise_attention kTable;

}  // namespace attention_naive
