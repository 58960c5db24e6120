// The graph: norm, attention with RoPE, norm, gated feed-forward; then the head. Source: "Attention Is All
// You Need" (Vaswani et al. 2017) with RMSNorm (Zhang and Sennrich 2019), RoPE (Su et al. 2021), SwiGLU
// (Shazeer 2020) and grouped queries (Ainslie et al. 2023), as the families' reference implementations put
// them together. Thread rule and flow: see decoder.h.
#include "decoder.h"

#include <cmath>
#include <string>
#include <vector>

#include "hyperparams.h"

namespace decoder {
namespace {

using mortise::str;

mortise_attr integer(const char* name, int64_t value) {
  return {name, MORTISE_INT, 0, value, 0, nullptr, nullptr};
}
mortise_attr number(const char* name, double value) {
  return {name, MORTISE_FLOAT, 0, 0, value, nullptr, nullptr};
}
mortise_attr text(const char* name, const char* value) {
  return {name, MORTISE_STRING, 0, 0, 0, value, nullptr};
}
mortise_attr list(const char* name, const std::vector<double>& values) {
  return {name, MORTISE_LIST, static_cast<uint32_t>(values.size()), 0, 0, nullptr, values.data()};
}

/// The builder with the names of this model's tensors.
class Build {
 public:
  Build(const mortise_model& model, const mortise_builder& builder, const Hyperparams& h)
      : model_(model), b_(builder), h_(h) {}

  void run() {
    const mortise_matrix table = matrix("token_embd.weight", h_.hidden);
    if (table == 0) return;
    const auto vocab = static_cast<uint32_t>(tensor("token_embd.weight")->shape[0]);
    const mortise_arch_info info{sizeof(info),          h_.layers, h_.hidden,  h_.heads, h_.kv_heads,
                                 h_.head_dim,           vocab,     h_.context, 0,        0,
                                 h_.family->name.data()};
    b_.info(b_.ctx, &info);
    const mortise_kv_group group{sizeof(group), h_.kv_heads, h_.head_dim, h_.head_dim, 0, 0};
    group_ = b_.kv_group(b_.ctx, &group);
    rope_table_ = make_rope_table();
    mortise_node x = b_.embed(b_.ctx, table);
    for (uint32_t layer = 0; layer < h_.layers; ++layer) {
      prefix_ = "blk." + std::to_string(layer) + ".";
      x = add(x, attention(norm(x, prefix_ + "attn_norm.weight")));
      x = add(x, feed_forward(norm(x, prefix_ + "ffn_norm.weight")));
    }
    x = norm(b_.take_rows(b_.ctx, x), "output_norm.weight");
    // Models without a head of their own use the embedding table for it.
    const bool is_tied = tensor("output.weight") == nullptr;
    b_.logits(b_.ctx, b_.linear(b_.ctx, x, is_tied ? table : matrix("output.weight", h_.hidden), 0));
  }

 private:
  const mortise_tensor* tensor(std::string_view name) const { return model_.tensor(model_.ctx, str(name)); }
  mortise_matrix matrix(const std::string& name, uint64_t k) {
    const mortise_matrix_source source{sizeof(source), 0, str(name), 0, 0, k};
    return b_.matrix(b_.ctx, &source);
  }
  mortise_vector vector(const std::string& name, uint64_t count, bool needed) {
    return b_.vector(b_.ctx, str(name), count, needed);
  }
  mortise_node op(const char* id, std::vector<mortise_node> inputs, std::vector<mortise_attr> attrs,
                  std::vector<mortise_vector> vectors = {}) {
    const mortise_op_use use{sizeof(use),
                             static_cast<uint32_t>(inputs.size()),
                             static_cast<uint32_t>(vectors.size()),
                             static_cast<uint32_t>(attrs.size()),
                             id,
                             inputs.data(),
                             vectors.data(),
                             attrs.data()};
    return b_.op(b_.ctx, &use);
  }
  mortise_node norm(mortise_node x, const std::string& weight) {
    return op("mortise.norm/1", {x},
              {integer("rms", 1), number("eps", h_.norm_eps), integer("width", h_.hidden)},
              {vector(weight, h_.hidden, true)});
  }
  mortise_node add(mortise_node a, mortise_node b) { return op("mortise.add/1", {a, b}, {}); }

  mortise_node make_rope_table();
  mortise_node rope(mortise_node x);
  mortise_node attention(mortise_node x);
  mortise_node feed_forward(mortise_node x);

  const mortise_model& model_;
  const mortise_builder& b_;
  const Hyperparams& h_;
  std::string prefix_;
  uint32_t group_ = 0;
  mortise_node rope_table_ = 0;
};

/// theta^(-2i / dims), divided by linear scaling and by the model's own factors where it has them.
mortise_node Build::make_rope_table() {
  const uint32_t half = h_.rope_dims / 2;
  const mortise_vector factors = vector("rope_freqs.weight", half, false);
  const float* factor = factors == 0 ? nullptr : b_.vector_data(b_.ctx, factors);
  std::vector<double> frequencies;
  for (uint32_t i = 0; i < half; ++i) {
    const double plain = std::pow(h_.rope_theta, -2.0 * i / h_.rope_dims) / h_.rope_factor;
    frequencies.push_back(factor == nullptr ? plain : plain / static_cast<double>(factor[i]));
  }
  return op("mortise.rope_table/1", {}, {list("inverse_frequencies", frequencies)});
}

mortise_node Build::rope(mortise_node x) {
  return op("mortise.rope/1", {x, rope_table_},
            {integer("head_dim", h_.head_dim), integer("dims", h_.rope_dims),
             integer("interleaved", h_.family->is_interleaved)});
}

mortise_node Build::attention(mortise_node x) {
  const uint64_t q_cols = uint64_t{h_.heads} * h_.head_dim, kv_cols = uint64_t{h_.kv_heads} * h_.head_dim;
  const mortise_matrix w[] = {matrix(prefix_ + "attn_q.weight", h_.hidden),
                              matrix(prefix_ + "attn_k.weight", h_.hidden),
                              matrix(prefix_ + "attn_v.weight", h_.hidden)};
  const mortise_vector bias[] = {vector(prefix_ + "attn_q.bias", q_cols, false),
                                 vector(prefix_ + "attn_k.bias", kv_cols, false),
                                 vector(prefix_ + "attn_v.bias", kv_cols, false)};
  mortise_node qkv[3] = {};
  b_.linear_group(b_.ctx, x, 3, w, bias, qkv);
  const mortise_attention_layer layer{sizeof(layer),
                                      h_.heads,
                                      h_.kv_heads,
                                      h_.head_dim,
                                      h_.head_dim,
                                      0,
                                      0,
                                      static_cast<float>(1.0 / std::sqrt(static_cast<double>(h_.head_dim))),
                                      0,
                                      nullptr};
  const mortise_slot slot = b_.kv_slot(b_.ctx, group_);
  const mortise_node out = b_.attention(b_.ctx, slot, &layer, rope(qkv[0]), rope(qkv[1]), qkv[2]);
  return b_.linear(b_.ctx, out, matrix(prefix_ + "attn_output.weight", q_cols),
                   vector(prefix_ + "attn_output.bias", h_.hidden, false));
}

mortise_node Build::feed_forward(mortise_node x) {
  const mortise_matrix w[] = {matrix(prefix_ + "ffn_gate.weight", h_.hidden),
                              matrix(prefix_ + "ffn_up.weight", h_.hidden)};
  mortise_node gate_up[2] = {};
  b_.linear_group(b_.ctx, x, 2, w, nullptr, gate_up);
  const mortise_node y = op("mortise.act_mul/1", {gate_up[0], gate_up[1]}, {text("kind", "silu")});
  return b_.linear(b_.ctx, y, matrix(prefix_ + "ffn_down.weight", 0), 0);
}

}  // namespace

mortise::Result<void> build(const mortise_model& model, const mortise_builder& builder) {
  MORTISE_TRY(hyperparams, read_hyperparams(model));
  Build(model, builder, hyperparams).run();
  return {};
}

}  // namespace decoder
