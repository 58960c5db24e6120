// The graph: norm, attention, norm, feed-forward, each added to the residual stream; then the head. Source:
// "Attention Is All You Need" (Vaswani et al. 2017) with RMSNorm (Zhang and Sennrich 2019), RoPE (Su et al.
// 2021), SwiGLU (Shazeer 2020) and grouped queries (Ainslie et al. 2023), as the families' reference
// implementations put them together. Thread rule and flow: see decoder.h.
#include "decoder.h"

#include <algorithm>

#include "build.h"

namespace decoder {

using mortise::Result;

Result<mortise_node> Build::rope_table(fam::Rope rope) {
  const auto factors = [&](Role role) {
    const mortise_vector found = vector(name(role), h_.rope_dims / 2, false);
    const float* data = found == 0 ? nullptr : b_.vector_data(b_.ctx, found);
    return data == nullptr ? std::vector<double>() : std::vector<double>(data, data + h_.rope_dims / 2);
  };
  if (h_.dialect == fam::Dialect::gguf) {
    rope.divisors = factors(Role::rope_freqs);
    if (rope.kind == fam::RopeKind::longrope) {
      rope.short_factors = factors(Role::rope_factors_short);
      rope.long_factors = factors(Role::rope_factors_long);
    }
  }
  MORTISE_TRY(table, fam::rope_table(rope, h_.rope_dims));
  std::vector<mortise_attr> attrs{list("inverse_frequencies", table.inverse_frequencies)};
  if (table.factor != 1) attrs.push_back(number("factor", table.factor));
  if (table.long_from != 0) attrs.push_back(integer("long_from", table.long_from));
  if (!table.long_inverse_frequencies.empty())
    attrs.push_back(list("long_inverse_frequencies", table.long_inverse_frequencies));
  if (table.dynamic_factor != 0) attrs.push_back(number("dynamic_factor", table.dynamic_factor));
  table_ = table;
  return op("mortise.rope_table/1", {}, attrs);
}

Result<void> Build::run() {
  const std::string table_name = names_.find(Role::token_embd);
  const mortise_matrix table = matrix(table_name, h_.hidden);
  const mortise_tensor* tensor = names_.tensor(table_name);
  if (table == 0 || tensor == nullptr) return {};
  const auto any = [&](auto&& test) { return std::any_of(h_.layer.begin(), h_.layer.end(), test); };
  const mortise_kv_group full{sizeof(full), h_.kv_heads, h_.head_dim, h_.head_dim, 0, 0};
  const mortise_kv_group windowed{sizeof(windowed), h_.kv_heads, h_.head_dim, h_.head_dim, h_.window, 0};
  if (any([](const fam::Layer& l) { return !l.has_window; })) full_ = b_.kv_group(b_.ctx, &full);
  if (any([](const fam::Layer& l) { return l.has_window; })) windowed_ = b_.kv_group(b_.ctx, &windowed);
  if (any([](const fam::Layer& l) { return l.has_rope; })) {
    const bool has_local = h_.family->has(fam::kLocalRope) && windowed_ != 0;
    if (has_local) {
      MORTISE_TRY(local, rope_table(h_.local_rope));
      local_rope_ = local;
    }
    MORTISE_TRY(rope, rope_table(h_.rope));
    rope_ = rope;
    if (!has_local) local_rope_ = rope;
  }
  const uint32_t context =
      h_.rope_dims == 0 ? h_.context : fam::covered_context(h_.rope, h_.context, fam::kContextMax);
  const mortise_arch_info info{sizeof(info),
                               h_.layers,
                               h_.hidden,
                               h_.heads,
                               h_.kv_heads,
                               h_.head_dim,
                               static_cast<uint32_t>(tensor->shape[0]),
                               context,
                               table_.long_from,
                               table_.dynamic_factor != 0 ? 1u : 0u,
                               h_.name.c_str()};
  b_.info(b_.ctx, &info);
  mortise_node x = embedding(table);
  for (at_ = 0; at_ < h_.layers; ++at_) x = block(x);
  b_.logits(b_.ctx, head(x, table));
  return {};
}

mortise_node Build::embedding(mortise_matrix table) {
  const mortise_node x = scale(b_.embed(b_.ctx, table), h_.embedding_scale);
  if (!h_.family->has(fam::kPositions)) return x;
  const mortise_matrix positions = matrix(names_.find(Role::position_embd), h_.hidden);
  return add(x, b_.embed_positions(b_.ctx, positions));
}

mortise_node Build::block(mortise_node x) {
  const mortise_node normed = norm(x, Role::attn_norm);
  const mortise_node attended = norm(attention(normed), Role::attn_post_norm);
  if (h_.is_parallel)
    return add(add(x, attended, h_.residual_scale), feed_forward(normed), h_.residual_scale);
  x = add(x, attended, h_.residual_scale);
  const mortise_node fed = norm(feed_forward(norm(x, Role::ffn_norm)), Role::ffn_post_norm);
  return add(x, fed, h_.residual_scale);
}

mortise_node Build::head(mortise_node x, mortise_matrix table) {
  x = norm(b_.take_rows(b_.ctx, x), Role::output_norm);
  // Models without a head of their own use the embedding table for it.
  const bool is_tied = h_.is_tied || !names_.has(Role::output);
  x = b_.linear(b_.ctx, x, is_tied ? table : matrix(names_.find(Role::output), h_.hidden), 0);
  x = scale(x, h_.logit_scale);
  return h_.logit_softcap == 0 ? x : op("mortise.softcap/1", {x}, {number("c", h_.logit_softcap)});
}

Result<void> build(const mortise_model& model, const mortise_builder& builder) {
  MORTISE_TRY(hyperparams, fam::read_hyperparams(model));
  return Build(model, builder, std::move(hyperparams)).run();
}

}  // namespace decoder
