// Hyperparameters out of GGUF metadata; the keys' meanings are those of llama.cpp's converter, and what it
// leaves out (patterns of windows, a second RoPE base, scales that follow from the size) stands here.
// Thread rule and flow: see read.h.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "families/read.h"

namespace mortise::families {
namespace {

constexpr Fixed kFixed[] = {
#include "families/fixed_gguf.inc"
};

Result<RopeKind> read_kind(const Source& source) {
  const std::string key = source.key("rope.scaling.type");
  MORTISE_TRY(type, source.meta.text(key, "none"));
  if (Names(source.model, source.family, source.dialect).has(Role::rope_factors_long))
    return RopeKind::longrope;
  if (type == "none" || type.empty()) return RopeKind::plain;
  if (type == "linear") return RopeKind::linear;
  if (type == "yarn") return RopeKind::yarn;
  return fail(Code::unsupported, key,
              "is '" + std::string(type) + "'; known are none, linear, yarn, and longrope with its tensors");
}

Result<Rope> read_rope(const Source& source, uint32_t context) {
  const Metadata& meta = source.meta;
  Rope out;
  MORTISE_TRY(kind, read_kind(source));
  MORTISE_TRY(theta, positive(source, source.key("rope.freq_base"), 10000.0));
  MORTISE_TRY(original,
              meta.integer(source.key("rope.scaling.original_context_length"), 1, kContextMax, context));
  out.kind = kind;
  out.theta = theta;
  out.original_context = static_cast<double>(original);
  out.factor = static_cast<double>(context) / out.original_context;
  MORTISE_TRY(attention, positive(source, source.key("rope.scaling.attn_factor"), 1.0));
  if (kind == RopeKind::plain) {
    MORTISE_TRY(linear, positive(source, source.key("rope.scale_linear"), 1.0));
    out.factor = linear;
    if (linear != 1) out.kind = RopeKind::linear;
  }
  if (kind == RopeKind::linear || kind == RopeKind::yarn) {
    MORTISE_TRY(factor, positive(source, source.key("rope.scaling.factor")));
    out.factor = factor;
  }
  if (attention != 1 || kind != RopeKind::longrope) out.attention_factor = attention;
  if (kind != RopeKind::yarn) return out;
  MORTISE_TRY(log_multiplier, meta.number(source.key("rope.scaling.yarn_log_multiplier"), 0.0));
  MORTISE_TRY(fast, positive(source, source.key("rope.scaling.yarn_beta_fast"), 32.0));
  MORTISE_TRY(slow, positive(source, source.key("rope.scaling.yarn_beta_slow"), 1.0));
  MORTISE_TRY(own, positive(source, source.key("rope.scaling.yarn_attn_factor"), 1.0));
  const auto scale = [&](double by) { return out.factor <= 1 ? 1 : 0.1 * by * std::log(out.factor) + 1; };
  const double usual = log_multiplier > 0 ? scale(1) / scale(log_multiplier) : scale(1);
  out.attention_factor = (own != 1 ? own : usual) * attention;
  out.beta_fast = fast;
  out.beta_slow = slow;
  out.is_truncated = source.family.name != "gpt_oss";  // its own definition does not
  return out;
}

Result<void> read_all_ropes(const Source& source, Hyperparams* out) {
  if (source.family.has(kPositions)) return {};
  MORTISE_TRY(dims, source.meta.integer(source.key("rope.dimension_count"), 2, out->head_dim, out->head_dim));
  if (dims % 2 != 0)
    return fail(Code::bad_data, source.key("rope.dimension_count"), "= " + std::to_string(dims) + " is odd");
  out->rope_dims = static_cast<uint32_t>(dims);
  MORTISE_TRY(rope, read_rope(source, out->context));
  out->rope = std::move(rope);
  const bool has_local = source.family.has(kLocalRope);
  MORTISE_TRY(local,
              positive(source, source.key("rope.freq_base_swa"), has_local ? 10000.0 : out->rope.theta));
  if (!has_local && local != out->rope.theta)
    return fail(
        Code::unsupported, source.key("rope.freq_base_swa"),
        "differs from rope.freq_base; the family " + std::string(source.family.name) + " has one base");
  out->local_rope.theta = local;
  out->local_rope.original_context = out->context;
  return {};
}

/// Every `period`-th layer has no window; 0: all have one. The metadata may list the layers instead.
Result<void> read_windows(const Source& source, Hyperparams* out) {
  const int64_t usual = source.family.name == "gemma2" ? 4096 : 0;
  MORTISE_TRY(window, source.meta.integer(source.key(Key::window), 0, kContextMax, usual));
  out->window = static_cast<uint32_t>(window);
  if (window == 0) return {};
  int64_t period = source.family.windows == Windows::period_2   ? 2
                   : source.family.windows == Windows::period_6 ? 6
                                                                : 0;
  const std::string key = source.key("attention.sliding_window_pattern");
  mortise_meta value;
  if (source.model.meta(source.model.ctx, str(key), &value) == MORTISE_OK && value.is_array != 0) {
    MORTISE_TRY(list, source.meta.numbers(key, kLayersMax));
    if (list.size() != out->layers)
      return fail(
          Code::bad_data, key,
          "has " + std::to_string(list.size()) + " entries for " + std::to_string(out->layers) + " layers");
    for (uint32_t i = 0; i < out->layers; ++i) out->layer[i].has_window = list[i] != 0;
    return {};
  }
  MORTISE_TRY(said, source.meta.integer(key, 0, kLayersMax, period));
  period = said;
  for (uint32_t i = 0; i < out->layers; ++i) out->layer[i].has_window = period == 0 || (i + 1) % period != 0;
  return {};
}

/// The largest Gemma 2 and 3 scale by hidden / heads; their files do not say so, the number of layers does.
bool scales_by_hidden(const Source& source, uint32_t layers) {
  return (source.family.name == "gemma2" && layers == 46) || (source.family.name == "gemma3" && layers == 62);
}

Result<void> read_scales(const Source& source, Hyperparams* out) {
  if (scales_by_hidden(source, out->layers))
    out->attention_scale = 1 / std::sqrt(static_cast<double>(out->hidden / out->heads));
  MORTISE_TRY(attention, source.meta.number(source.key("attention.scale"), 0.0));
  if (attention != 0) {
    MORTISE_TRY(scale, positive(source, source.key("attention.scale")));
    out->attention_scale = scale;
  }
  if (source.family.has(kMultipliers)) {
    MORTISE_TRY(embedding, positive(source, source.key("embedding_scale"), 1.0));
    MORTISE_TRY(residual, positive(source, source.key("residual_scale"), 1.0));
    MORTISE_TRY(logits, positive(source, source.key("logit_scale"), 1.0));
    out->embedding_scale = embedding;
    out->residual_scale = residual;
    out->logit_scale = 1 / logits;
  }
  if (source.family.has(kSoftcaps)) {
    const bool is_usual = source.family.name == "gemma2";
    MORTISE_TRY(scores, source.meta.number(source.key("attn_logit_softcapping"), is_usual ? 50.0 : 0.0));
    MORTISE_TRY(logits, source.meta.number(source.key("final_logit_softcapping"), is_usual ? 30.0 : 0.0));
    if (scores < 0 || logits < 0)
      return fail(Code::bad_data,
                  source.key(scores < 0 ? "attn_logit_softcapping" : "final_logit_softcapping"),
                  "is negative");
    out->attention_softcap = scores;
    out->logit_softcap = logits;
  }
  return {};
}

Result<void> read_experts(const Source& source, Hyperparams* out) {
  if (!source.family.has(kExperts)) return {};
  MORTISE_TRY(experts, source.meta.integer(source.key(Key::experts), 1, kExpertsMax));
  MORTISE_TRY(used, source.meta.integer(source.key(Key::experts_used), 1, experts));
  MORTISE_TRY(renormalized,
              source.meta.boolean(source.key("expert_weights_norm"), source.family.name == "qwen3_moe"));
  MORTISE_TRY(scale, source.meta.number(source.key("expert_weights_scale"), 1.0));
  // 0: the family's own, 1: softmax over all, 3: over the chosen.
  const int64_t usual = source.family.name == "gpt_oss" ? 3 : 1;
  MORTISE_TRY(gating, source.meta.integer(source.key("expert_gating_func"), 0, 255, usual));
  if (gating != usual && gating != 0)
    return fail(Code::unsupported, source.key("expert_gating_func"),
                "= " + std::to_string(gating) + "; known is " + std::to_string(usual));
  out->experts = static_cast<uint32_t>(experts);
  out->experts_used = static_cast<uint32_t>(used);
  out->is_renormalized = renormalized;
  out->router_scale = scale == 0 ? 1 : scale;
  const Names names(source.model, source.family, source.dialect);
  for (uint32_t i = 0; i < out->layers; ++i) out->layer[i].has_experts = names.has(Role::router, i);
  if (source.family.has(kInterleavedGateUp)) {
    out->swiglu_alpha = 1.702;
    out->swiglu_limit = 7;
  }
  return {};
}

}  // namespace

Result<void> read_gguf(const Source& source, Hyperparams* out) {
  MORTISE_CHECK(check_fixed(source, kFixed, std::size(kFixed)));
  MORTISE_CHECK(read_sizes(source, 0, out));
  MORTISE_TRY(value_dim,
              source.meta.integer(source.key("attention.value_length"), 1, kHeadDimMax, out->head_dim));
  if (value_dim != out->head_dim)
    return fail(
        Code::unsupported, source.key("attention.value_length"),
        "= " + std::to_string(value_dim) + " differs from the key length " + std::to_string(out->head_dim));
  MORTISE_CHECK(read_all_ropes(source, out));
  MORTISE_CHECK(read_windows(source, out));
  MORTISE_CHECK(read_scales(source, out));
  MORTISE_CHECK(read_experts(source, out));
  if (source.family.windows == Windows::without_rope)
    for (uint32_t i = 0; i < out->layers; ++i) out->layer[i].has_rope = (i + 1) % 4 != 0;
  // Converters write use_parallel_residual also where it is not so; the absent second norm decides.
  MORTISE_TRY(parallel, source.meta.boolean(source.key("use_parallel_residual"), false));
  out->is_parallel = parallel && !Names(source.model, source.family, source.dialect).has(Role::ffn_norm);
  return {};
}

}  // namespace mortise::families
