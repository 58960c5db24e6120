// Build: the attention of one layer. Thread rule and flow: see build.h.
#include "build.h"

namespace decoder {

/// q, k and v, out of one weight or three.
void Build::project(mortise_node x, mortise_node* qkv) {
  const uint64_t q_cols = uint64_t{h_.heads} * h_.head_dim, kv_cols = uint64_t{h_.kv_heads} * h_.head_dim;
  if (has(Role::attn_qkv)) {
    const mortise_node all =
        linear(x, weight(Role::attn_qkv, q_cols + 2 * kv_cols, h_.hidden, h_.has_qkv_bias));
    qkv[0] = b_.view(b_.ctx, all, 0, q_cols);
    qkv[1] = b_.view(b_.ctx, all, q_cols, kv_cols);
    qkv[2] = b_.view(b_.ctx, all, q_cols + kv_cols, kv_cols);
    return;
  }
  const Weight w[] = {weight(Role::attn_q, q_cols, h_.hidden, h_.has_qkv_bias),
                      weight(Role::attn_k, kv_cols, h_.hidden, h_.has_qkv_bias),
                      weight(Role::attn_v, kv_cols, h_.hidden, h_.has_qkv_bias)};
  const mortise_matrix matrices[] = {w[0].matrix, w[1].matrix, w[2].matrix};
  const mortise_vector biases[] = {w[0].bias, w[1].bias, w[2].bias};
  b_.linear_group(b_.ctx, x, 3, matrices, biases, qkv);
}

mortise_node Build::rope(mortise_node x) {
  const fam::Layer& layer = h_.layer[at_];
  if (!layer.has_rope) return x;
  const bool is_interleaved = h_.dialect == fam::Dialect::gguf && h_.family->has(fam::kPermuted);
  return op("mortise.rope/1", {x, layer.has_window ? local_rope_ : rope_},
            {integer("head_dim", h_.head_dim), integer("dims", h_.rope_dims),
             integer("interleaved", is_interleaved ? 1 : 0)});
}

mortise_node Build::attention(mortise_node x) {
  const uint32_t q_cols = h_.heads * h_.head_dim, kv_cols = h_.kv_heads * h_.head_dim;
  mortise_node qkv[3] = {};
  project(x, qkv);
  const bool is_wide = h_.family->has(fam::kWideNorm);
  const mortise_node q = rope(norm(qkv[0], Role::attn_q_norm, is_wide ? q_cols : h_.head_dim));
  const mortise_node k = rope(norm(qkv[1], Role::attn_k_norm, is_wide ? kv_cols : h_.head_dim));
  const bool has_window = h_.layer[at_].has_window;
  const std::string sinks_name = name(Role::attn_sinks);
  const mortise_vector sinks = sinks_name.empty() ? 0 : vector(sinks_name, h_.heads, true);
  const float* sinks_data = sinks == 0 ? nullptr : b_.vector_data(b_.ctx, sinks);
  const uint64_t features = (has_window ? MORTISE_ATTENTION_WINDOW : 0) |
                            (h_.attention_softcap != 0 ? MORTISE_ATTENTION_SOFTCAP : 0) |
                            (sinks_data != nullptr ? MORTISE_ATTENTION_SINKS : 0);
  const mortise_attention_layer layer{sizeof(layer),
                                      h_.heads,
                                      h_.kv_heads,
                                      h_.head_dim,
                                      h_.head_dim,
                                      has_window ? h_.window : 0,
                                      features,
                                      static_cast<float>(h_.attention_scale),
                                      static_cast<float>(h_.attention_softcap),
                                      sinks_data};
  const mortise_slot slot = b_.kv_slot(b_.ctx, has_window ? windowed_ : full_);
  const mortise_node out = b_.attention(b_.ctx, slot, &layer, q, k, qkv[2]);
  return linear(out, weight(Role::attn_output, h_.hidden, q_cols, h_.has_output_bias));
}

}  // namespace decoder
