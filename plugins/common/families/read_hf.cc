// Hyperparameters out of a hub folder's config.json; defaults of absent keys are those of the reference
// implementation's config classes. Thread rule and flow: see read.h.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "families/read.h"

namespace mortise::families {
namespace {

constexpr Fixed kFixed[] = {
#include "families/fixed_hf.inc"
};

struct Activation {
  std::string_view hf, ours;
};
constexpr Activation kActivations[] = {
    {"silu", "silu"},
    {"swish", "silu"},
    {"gelu", "gelu"},
    {"gelu_python", "gelu"},
    {"gelu_new", "gelu_tanh"},
    {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_fast", "gelu_tanh"},
    {"gelu_accurate", "gelu_tanh"},
    {"gelu_python_tanh", "gelu_tanh"},
    {"relu", "relu"},
    {"relu2", "relu2"},
};

/// The head's columns where config.json does not say; 0: hidden / heads.
int64_t usual_head_dim(std::string_view family) {
  if (family == "gemma" || family == "gemma2" || family == "gemma3") return 256;
  if (family == "gpt_oss") return 64;
  return family == "qwen3" ? 128 : 0;
}

Result<void> read_activation(const Source& source, Hyperparams* out) {
  const std::string_view family = source.family.name;
  std::string key = source.key("hidden_act");
  if (family == "gpt2") key = source.key("activation_function");
  // The first Gemma's "gelu" always meant its approximation.
  if (family == "gemma2" || family == "gemma3" || (family == "gemma" && source.meta.has("hidden_activation")))
    key = source.key("hidden_activation");
  MORTISE_TRY(name, source.meta.text(key, ""));
  if (name.empty()) return {};
  if (family == "gemma" && name == "gelu") return {};
  std::string known;
  for (const Activation& row : kActivations) {
    if (row.hf == name) {
      out->activation = row.ours;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(row.hf);
  }
  return fail(Code::unsupported, key, "is '" + std::string(name) + "'; known are " + known);
}

/// Does layer i have the window, where no list says so?
bool has_window(Windows rule, int64_t i, bool is_switched_on, int64_t upper_from, int64_t period,
                bool has_rope) {
  switch (rule) {
    case Windows::none:
      return false;
    case Windows::all:
      return true;
    case Windows::upper:
      return is_switched_on && i >= upper_from;
    case Windows::lower_odd:
      return is_switched_on && i < upper_from && (i + 1) % 2 != 0;
    case Windows::switched:
      return is_switched_on;
    case Windows::period_2:
    case Windows::period_6:
      return (i + 1) % period != 0;
    case Windows::without_rope:
      return is_switched_on && !has_rope;
  }
  return false;
}

bool is_switched(Windows rule) {
  return rule == Windows::upper || rule == Windows::lower_odd || rule == Windows::switched ||
         rule == Windows::without_rope;
}

/// Layers whose entry of `layer_types` says what.
Result<void> read_layer_types(const Source& source, Hyperparams* out, bool* is_there) {
  const std::string key = source.key("layer_types");
  MORTISE_TRY(types, source.meta.texts(key, kLayersMax));
  *is_there = !types.empty();
  if (types.empty()) return {};
  if (types.size() != out->layers)
    return fail(
        Code::bad_data, key,
        "has " + std::to_string(types.size()) + " entries for " + std::to_string(out->layers) + " layers");
  for (uint32_t i = 0; i < out->layers; ++i) {
    const bool slides = types[i] == "sliding_attention";
    if (!slides && types[i] != "full_attention")
      return fail(Code::unsupported, key,
                  "has '" + std::string(types[i]) + "'; known are full_attention and sliding_attention");
    if (source.family.has(kLayerTypes))
      out->layer[i].has_window = slides;
    else if (slides != out->layer[i].has_window)
      return fail(Code::unsupported, key,
                  "mixes layers as the family " + std::string(source.family.name) + " does not");
  }
  return {};
}

Result<void> read_windows(const Source& source, Hyperparams* out) {
  const Metadata& meta = source.meta;
  const Windows rule = source.family.windows;
  MORTISE_TRY(switched_on, meta.boolean(source.key("use_sliding_window"), false));
  MORTISE_TRY(upper_from, meta.integer(source.key("max_window_layers"), 0, INT32_MAX, 28));
  MORTISE_TRY(said, meta.integer(source.key("_sliding_window_pattern"), 1, kLayersMax, 6));
  MORTISE_TRY(period, meta.integer(source.key("sliding_window_pattern"), 1, kLayersMax, said));
  for (uint32_t i = 0; i < out->layers; ++i)
    out->layer[i].has_window = has_window(rule, i, switched_on, upper_from,
                                          rule == Windows::period_2 ? 2 : period, out->layer[i].has_rope);
  // A window that nothing switches on, or that the family's code does not read, plays no part.
  const bool is_read = rule != Windows::none && (!is_switched(rule) || switched_on);
  const std::string key = source.key(Key::window);
  const bool has_size = is_read && meta.has(key);
  // Without a size no layer of these families has a window.
  if (!has_size && (rule == Windows::all || is_switched(rule) || rule == Windows::none))
    for (Layer& layer : out->layer) layer.has_window = false;
  bool is_listed = false;
  MORTISE_CHECK(read_layer_types(source, out, &is_listed));
  if (is_switched(rule) && !has_size)
    for (Layer& layer : out->layer) layer.has_window = false;
  if (std::none_of(out->layer.begin(), out->layer.end(), [](const Layer& l) { return l.has_window; }))
    return {};
  MORTISE_TRY(window, meta.integer(key, 1, kContextMax));
  out->window = static_cast<uint32_t>(window);
  return {};
}

/// smollm3: layers whose entry is 0, or else every fourth one, have no RoPE.
Result<void> read_rope_layers(const Source& source, Hyperparams* out) {
  const std::string key = source.key("no_rope_layers");
  MORTISE_TRY(list, source.meta.numbers(key, kLayersMax));
  MORTISE_TRY(interval, source.meta.integer(source.key("no_rope_layer_interval"), 1, kLayersMax, 4));
  if (source.family.windows != Windows::without_rope) {
    if (std::any_of(list.begin(), list.end(), [](double has) { return has == 0; }))
      return fail(Code::unsupported, key,
                  "has layers without RoPE, as the family " + std::string(source.family.name) + " has not");
    return {};
  }
  if (!list.empty() && list.size() != out->layers)
    return fail(
        Code::bad_data, key,
        "has " + std::to_string(list.size()) + " entries for " + std::to_string(out->layers) + " layers");
  for (uint32_t i = 0; i < out->layers; ++i)
    out->layer[i].has_rope = list.empty() ? (i + 1) % interval != 0 : list[i] != 0;
  return {};
}

Result<void> read_scales(const Source& source, Hyperparams* out) {
  if (source.family.has(kMultipliers)) {
    MORTISE_TRY(embedding, positive(source, source.key("embedding_multiplier"), 1.0));
    MORTISE_TRY(residual, positive(source, source.key("residual_multiplier"), 1.0));
    MORTISE_TRY(attention, positive(source, source.key("attention_multiplier"), 1.0));
    MORTISE_TRY(logits, positive(source, source.key("logits_scaling"), 1.0));
    out->embedding_scale = embedding;
    out->residual_scale = residual;
    out->attention_scale = attention;
    out->logit_scale = 1 / logits;
  }
  if (!source.family.has(kSoftcaps)) return {};
  MORTISE_TRY(scalar, positive(source, source.key("query_pre_attn_scalar"), 256.0));
  out->attention_scale = 1 / std::sqrt(scalar);
  for (const auto& [name, cap] : {std::pair{"attn_logit_softcapping", &out->attention_softcap},
                                  std::pair{"final_logit_softcapping", &out->logit_softcap}}) {
    if (!source.meta.has(source.key(name))) continue;
    MORTISE_TRY(value, positive(source, source.key(name)));
    *cap = value;
  }
  return {};
}

Result<void> read_experts(const Source& source, Hyperparams* out) {
  if (!source.family.has(kExperts)) return {};
  const Metadata& meta = source.meta;
  MORTISE_TRY(experts, meta.integer(source.key(Key::experts), 1, kExpertsMax));
  MORTISE_TRY(used, meta.integer(source.key(Key::experts_used), 1, experts));
  MORTISE_TRY(renormalized, meta.boolean(source.key("norm_topk_prob"), false));
  MORTISE_TRY(step, meta.integer(source.key("decoder_sparse_step"), 1, kLayersMax, 1));
  MORTISE_TRY(dense, meta.numbers(source.key("mlp_only_layers"), kLayersMax));
  out->experts = static_cast<uint32_t>(experts);
  out->experts_used = static_cast<uint32_t>(used);
  out->is_renormalized = renormalized;
  for (uint32_t i = 0; i < out->layers; ++i)
    out->layer[i].has_experts =
        (i + 1) % step == 0 && std::find(dense.begin(), dense.end(), static_cast<double>(i)) == dense.end();
  if (source.family.has(kInterleavedGateUp)) {
    MORTISE_TRY(alpha, positive(source, source.key("swiglu_alpha"), 1.702));
    MORTISE_TRY(limit, positive(source, source.key("swiglu_limit"), 7.0));
    out->swiglu_alpha = alpha;
    out->swiglu_limit = limit;
  }
  return {};
}

/// Biases that the config promises; one that is there without a promise is taken too.
Result<void> read_biases(const Source& source, Hyperparams* out) {
  const Metadata& meta = source.meta;
  MORTISE_TRY(attention, meta.boolean(source.key("attention_bias"), false));
  MORTISE_TRY(mlp, meta.boolean(source.key("mlp_bias"), false));
  MORTISE_TRY(qkv, meta.boolean(source.key("use_qkv_bias"), false));
  MORTISE_TRY(all, meta.boolean(source.key("use_bias"), source.family.name == "starcoder2"));
  MORTISE_TRY(has_them, meta.boolean(source.key("qkv_bias"), true));
  const bool is_denied = meta.has(source.key("attention_bias")) && !attention;
  out->has_qkv_bias = (out->has_qkv_bias && has_them && !is_denied) || attention || qkv || all;
  out->has_output_bias = attention || all || source.family.name == "gpt2";
  out->has_ffn_bias = mlp || all || source.family.name == "gpt2";
  return {};
}

}  // namespace

Result<void> read_hf(const Source& source, Hyperparams* out) {
  MORTISE_CHECK(check_fixed(source, kFixed, std::size(kFixed)));
  MORTISE_CHECK(read_sizes(source, usual_head_dim(source.family.name), out));
  MORTISE_CHECK(read_activation(source, out));
  MORTISE_CHECK(read_rope_layers(source, out));
  MORTISE_CHECK(read_windows(source, out));
  if (!source.family.has(kPositions)) {
    MORTISE_TRY(rope, read_hf_rope(source, "full_attention", out));
    out->rope = std::move(rope);
    if (source.family.has(kLocalRope)) {
      MORTISE_TRY(local, read_hf_rope(source, "sliding_attention", out));
      out->local_rope = std::move(local);
    }
  }
  MORTISE_CHECK(read_scales(source, out));
  MORTISE_CHECK(read_experts(source, out));
  MORTISE_CHECK(read_biases(source, out));
  MORTISE_TRY(tied, source.meta.boolean("tie_word_embeddings", false));
  MORTISE_TRY(parallel, source.meta.boolean(source.key("use_parallel_residual"), false));
  out->is_tied = tied;
  out->is_parallel = parallel && source.family.name == "stablelm";
  return {};
}

}  // namespace mortise::families
