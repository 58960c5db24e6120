// attention/naive: the formula; see softmax.h.
#include "softmax.h"

#include <mortise/cpp/lanes.h>

#include <cmath>

namespace attention_naive {
namespace {

namespace lanes = mortise::lanes;
constexpr uint32_t kTokens = MORTISE_KV_BLOCK_TOKENS;

void read(mortise::KvType type, const uint8_t* from, uint32_t count, float* out) {
  for (uint32_t i = 0; i < count; ++i) out[i] = mortise::read_kv(type, from + i * mortise::kv_bytes(type));
}

float dot(const float* a, const float* b, uint32_t n) {
  lanes::F32 acc = lanes::zero();
  uint32_t i = 0;
  for (; i + lanes::kLanes <= n; i += lanes::kLanes) acc = acc + lanes::load(a + i) * lanes::load(b + i);
  if (i < n) acc = acc + lanes::load(a + i, n - i) * lanes::load(b + i, n - i);
  return lanes::sum(acc);
}

/// scores become exp(score - maximum); returns the sum of them and of the sink.
float softmax(float* scores, uint32_t count, const float* sink) {
  float maximum = sink == nullptr ? -INFINITY : *sink;
  for (uint32_t i = 0; i < count; ++i) maximum = std::max(maximum, scores[i]);
  float sum = 0.0f;
  for (uint32_t i = 0; i < count; ++i) {
    scores[i] = std::exp(scores[i] - maximum);
    sum += scores[i];
  }
  return sink == nullptr ? sum : sum + std::exp(*sink - maximum);
}

}  // namespace

void Cache::read_k(uint32_t position, float* out) const {
  const uint8_t* block = base + blocks[position / kTokens] * layer.block_bytes();
  const uint64_t head_bytes = layer.shape.k_dim * mortise::kv_bytes(layer.type);
  read(layer.type, block + position % kTokens * layer.k_bytes() + kv_head * head_bytes, layer.shape.k_dim,
       out);
}

void Cache::read_v(uint32_t position, float* out) const {
  const uint8_t* block = base + blocks[position / kTokens] * layer.block_bytes() + kTokens * layer.k_bytes();
  const uint64_t head_bytes = layer.shape.v_dim * mortise::kv_bytes(layer.type);
  read(layer.type, block + position % kTokens * layer.v_bytes() + kv_head * head_bytes, layer.shape.v_dim,
       out);
}

uint64_t scratch_floats(const Layer& layer, uint64_t length) {
  return layer.group() * length + std::max(layer.shape.k_dim, layer.shape.v_dim);
}

void attend(const Cache& cache, const float* q, int32_t position, float* out, float* scratch) {
  const mortise_attention_layer& shape = cache.layer.shape;
  const uint32_t group = cache.layer.group(), first = mortise::first_visible(shape, position);
  const uint32_t count = static_cast<uint32_t>(position) + 1 - first;
  float* vector = scratch;                                       // one K or V
  float* scores = scratch + std::max(shape.k_dim, shape.v_dim);  // [group][count]
  for (uint32_t i = 0; i < count; ++i) {
    cache.read_k(first + i, vector);
    for (uint32_t h = 0; h < group; ++h) {
      const float score = dot(q + h * shape.k_dim, vector, shape.k_dim) * shape.scale;
      scores[h * count + i] =
          shape.softcap == 0.0f ? score : shape.softcap * std::tanh(score / shape.softcap);
    }
  }
  std::fill_n(out, group * shape.v_dim, 0.0f);
  for (uint32_t h = 0; h < group; ++h) {
    const float* sink = shape.sinks == nullptr ? nullptr : shape.sinks + cache.kv_head * group + h;
    const float sum = softmax(scores + h * count, count, sink);
    for (uint32_t i = 0; i < count; ++i) scores[h * count + i] /= sum;
  }
  for (uint32_t i = 0; i < count; ++i) {
    cache.read_v(first + i, vector);
    for (uint32_t h = 0; h < group; ++h)
      for (uint32_t d = 0; d < shape.v_dim; ++d)
        out[h * shape.v_dim + d] += scores[h * count + i] * vector[d];
  }
}

}  // namespace attention_naive
