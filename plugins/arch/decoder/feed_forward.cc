// Build: the feed-forward of one layer: plain, gated, or a mixture of experts (Shazeer et al. 2017).
// Thread rule and flow: see build.h.
#include "build.h"

namespace decoder {

mortise_node Build::feed_forward(mortise_node x) {
  if (h_.layer[at_].has_experts) {
    const mortise_node routed = experts(x);
    return name(Role::shared_gate).empty() ? routed : add(routed, shared_expert(x));
  }
  if (!name(Role::ffn_gate_up).empty() && (has(Role::ffn_gate_up) || name(Role::ffn_gate).empty()))
    return fused_dense(x);
  return dense(x, Role::ffn_gate, Role::ffn_up, Role::ffn_down);
}

mortise_node Build::gated(mortise_node gate, mortise_node up) {
  const std::string kind(h_.activation);
  return op("mortise.act_mul/1", {gate, up}, {text("kind", kind.c_str())});
}

mortise_node Build::dense(mortise_node x, Role gate, Role up, Role down) {
  const bool is_transposed = h_.dialect == fam::Dialect::hf && h_.family->has(fam::kTransposed);
  const uint64_t inner = rows_of(name(up), is_transposed);
  const Weight w_up = weight(up, inner, h_.hidden, h_.has_ffn_bias);
  mortise_node y;
  if (name(gate).empty()) {
    const std::string kind(h_.activation);
    y = op("mortise.act/1", {linear(x, w_up)}, {text("kind", kind.c_str())});
  } else {
    const Weight w_gate = weight(gate, inner, h_.hidden, h_.has_ffn_bias);
    const mortise_matrix matrices[] = {w_gate.matrix, w_up.matrix};
    const mortise_vector biases[] = {w_gate.bias, w_up.bias};
    mortise_node gate_up[2] = {};
    b_.linear_group(b_.ctx, x, 2, matrices, biases, gate_up);
    y = gated(gate_up[0], gate_up[1]);
  }
  return linear(y, weight(down, h_.hidden, inner, h_.has_ffn_bias));
}

/// Gate and up are the halves of one weight.
mortise_node Build::fused_dense(mortise_node x) {
  const uint64_t rows = rows_of(name(Role::ffn_gate_up), false), inner = rows / 2;
  const mortise_node both = linear(x, weight(Role::ffn_gate_up, rows, h_.hidden, h_.has_ffn_bias));
  const mortise_node y = gated(b_.view(b_.ctx, both, 0, inner), b_.view(b_.ctx, both, inner, inner));
  return linear(y, weight(Role::ffn_down, h_.hidden, inner, h_.has_ffn_bias));
}

mortise_node Build::expert_linear(mortise_node x, mortise_node routing, Role each, Role all, uint64_t k,
                                  uint64_t part, uint64_t parts) {
  std::vector<mortise_matrix> matrices;
  mortise_vector bias = 0;
  const bool is_one_tensor = has(all) || name(each).empty();
  const std::string tensor = name(all);
  // Fused experts of hf lie as [in, out] in the families that interleave gate and up, unless they are stored
  // in blocks, which only run along the inputs.
  const mortise_tensor* found = names_.tensor(tensor);
  const bool is_transposed = h_.dialect == fam::Dialect::hf && h_.family->has(fam::kInterleavedGateUp) &&
                             found != nullptr && found->plane_count == 1;
  const uint64_t rows = rows_of(tensor, is_transposed) / parts;
  for (uint32_t e = 0; e < h_.experts; ++e)
    matrices.push_back(is_one_tensor ? matrix(tensor, k, is_transposed ? MORTISE_MATRIX_TRANSPOSED : 0,
                                              (e * parts + part) * rows, rows)
                                     : matrix(names_.find(each, at_, e), k));
  if (is_one_tensor && parts == 1)
    bias = vector(fam::bias_name(tensor), h_.experts * rows, h_.family->has(fam::kInterleavedGateUp));
  return b_.moe_linear(b_.ctx, x, routing, h_.experts, matrices.data(), bias);
}

/// What the chosen experts hold between their two layers: top_k parts side by side.
mortise_node Build::expert_hidden(mortise_node x, mortise_node routing) {
  const bool is_clamped = h_.swiglu_limit != 0;
  const std::string kind = is_clamped ? "swiglu_clamped" : std::string(h_.activation);
  std::vector<mortise_attr> attrs{text("kind", kind.c_str())};
  if (is_clamped) {
    attrs.push_back(number("alpha", h_.swiglu_alpha));
    attrs.push_back(number("limit", h_.swiglu_limit));
  }
  const bool is_fused =
      has(Role::experts_gate_up) || (name(Role::expert_gate).empty() && name(Role::experts_gate).empty());
  if (is_fused && h_.dialect == fam::Dialect::hf && h_.family->has(fam::kInterleavedGateUp))
    return op("mortise.act_mul/1",
              {expert_linear(x, routing, Role::expert_gate, Role::experts_gate_up, h_.hidden)}, attrs);
  const Role gate = is_fused ? Role::experts_gate_up : Role::experts_gate;
  const Role up = is_fused ? Role::experts_gate_up : Role::experts_up;
  const uint64_t parts = is_fused ? 2 : 1;
  const mortise_node g = expert_linear(x, routing, Role::expert_gate, gate, h_.hidden, 0, parts);
  const mortise_node u = expert_linear(x, routing, Role::expert_up, up, h_.hidden, parts - 1, parts);
  return op("mortise.act_mul/1", {g, u}, attrs);
}

mortise_node Build::experts(mortise_node x) {
  const mortise_node logits = linear(x, weight(Role::router, h_.experts, h_.hidden, h_.swiglu_limit != 0));
  std::vector<mortise_attr> attrs{integer("top_k", h_.experts_used),
                                  text("softmax", h_.is_softmax_of_chosen ? "after" : "before"),
                                  integer("renormalize", h_.is_renormalized ? 1 : 0)};
  if (h_.router_scale != 1) attrs.push_back(number("scale", h_.router_scale));
  const mortise_node routing = op("mortise.router/1", {logits}, attrs);
  const mortise_node y = expert_hidden(x, routing);
  const mortise_node down = expert_linear(y, routing, Role::expert_down, Role::experts_down, 0);
  return op("mortise.moe_combine/1", {down, routing}, {});
}

/// An expert that every token takes, as far as its own gate lets it.
mortise_node Build::shared_expert(mortise_node x) {
  const mortise_node y = dense(x, Role::shared_gate, Role::shared_up, Role::shared_down);
  const mortise_node gate = linear(x, weight(Role::shared_router, 1, h_.hidden, false));
  return op("mortise.mul/1", {y, gate}, {integer("sigmoid_b", 1)});
}

}  // namespace decoder
