// GGUF keys out of hyperparameters. Thread rule and flow: see hub_config.h.
// Names: the GGUF specification, and what llama.cpp's converter writes.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "hub_config.h"

namespace mortise::convert {
namespace {

using families::Dialect;
using families::Hyperparams;
using families::Key;
using families::RopeKind;
using families::Windows;

/// Does a GGUF of the family mean a window at layer i without saying so?
bool implies_window(Windows rule, uint32_t i) {
  const uint32_t period = rule == Windows::period_2 ? 2 : rule == Windows::period_6 ? 6 : 0;
  return period == 0 || (i + 1) % period != 0;
}

/// One conversion's keys and tensors.
class Writer {
 public:
  Writer(const mortise_model& model, const Hyperparams& h, const Options& options, Plan* out)
      : model_(model), h_(h), options_(options), out_(out) {}

  Result<void> run() {
    MetaList& meta = out_->meta;
    meta.text("general.architecture", h_.family->gguf);
    meta.text("general.name", std::filesystem::path(view(model_.path)).filename().string());
    meta.integer("general.file_type", options_.target->file_type);
    meta.integer("general.quantization_version", 2);
    sizes();
    MORTISE_CHECK(scales());
    MORTISE_CHECK(experts());
    if (h_.activation != h_.family->activation)
      return refuse("hidden_act", "the activation " + std::string(h_.activation));
    if (h_.family->has(families::kPositions)) return {};
    MORTISE_CHECK(rope());
    return windows();
  }

 private:
  std::string key(std::string_view suffix) const {
    return std::string(h_.family->gguf) + "." + std::string(suffix);
  }
  std::string key(Key what) const { return key(families::key_name(*h_.family, Dialect::gguf, what)); }

  void sizes() {
    MetaList& meta = out_->meta;
    meta.integer(key(Key::context), h_.context);
    meta.integer(key(Key::hidden), h_.hidden);
    meta.integer(key(Key::layers), h_.layers);
    meta.integer(key(Key::heads), h_.heads);
    meta.integer(key(Key::kv_heads), h_.kv_heads);
    meta.integer(key(Key::head_dim), h_.head_dim);
    meta.integer(key("attention.value_length"), h_.head_dim);
    meta.number(key(Key::norm_eps), h_.norm_eps);
    const WidthsOf widths = widths_of(model_, h_);
    if (widths.feed_forward > 0)
      meta.integer(key("feed_forward_length"), static_cast<int64_t>(widths.feed_forward));
    if (widths.expert > 0)
      meta.integer(key("expert_feed_forward_length"), static_cast<int64_t>(widths.expert));
    if (widths.shared > 0)
      meta.integer(key("expert_shared_feed_forward_length"), static_cast<int64_t>(widths.shared));
    meta.integer(key("vocab_size"), static_cast<int64_t>(widths.vocab));
  }

  Result<void> scales() {
    MetaList& meta = out_->meta;
    const double usual = 1 / std::sqrt(static_cast<double>(h_.head_dim));
    if (h_.attention_scale != 0 && std::abs(h_.attention_scale / usual - 1) > 1e-6)
      meta.number(key("attention.scale"), h_.attention_scale);
    if (h_.family->has(families::kMultipliers)) {
      meta.number(key("embedding_scale"), h_.embedding_scale);
      meta.number(key("residual_scale"), h_.residual_scale);
      meta.number(key("logit_scale"), 1 / h_.logit_scale);
    }
    if (h_.family->has(families::kSoftcaps)) {
      meta.number(key("attn_logit_softcapping"), h_.attention_softcap);
      meta.number(key("final_logit_softcapping"), h_.logit_softcap);
    }
    if (h_.is_parallel) meta.boolean(key("use_parallel_residual"), true);
    return {};
  }

  Result<void> experts() {
    if (h_.experts == 0) return {};
    out_->meta.integer(key(Key::experts), h_.experts);
    out_->meta.integer(key(Key::experts_used), h_.experts_used);
    out_->meta.boolean(key("expert_weights_norm"), h_.is_renormalized);
    const bool is_usual = h_.swiglu_limit == 0 || (h_.swiglu_limit == 7 && h_.swiglu_alpha == 1.702);
    return is_usual ? Result<void>() : refuse("swiglu_limit", "another limit than 7 or alpha than 1.702");
  }

  Result<void> rope() {
    MetaList& meta = out_->meta;
    const families::Rope& rope = h_.rope;
    meta.number(key("rope.freq_base"), rope.theta);
    meta.integer(key("rope.dimension_count"), h_.rope_dims);
    if (h_.family->has(families::kLocalRope)) {
      if (h_.local_rope.kind != RopeKind::plain)
        return refuse("rope_parameters", "scaling of the local RoPE");
      if (h_.local_rope.theta != 10000) meta.number(key("rope.freq_base_swa"), h_.local_rope.theta);
    }
    for (uint32_t i = 0; i < h_.layers; ++i)
      if (h_.layer[i].has_rope != (h_.family->windows != Windows::without_rope || (i + 1) % 4 != 0))
        return refuse("no_rope_layers", "another choice of layers without RoPE than every fourth");
    MORTISE_TRY(table, families::rope_table(rope, h_.rope_dims));
    switch (rope.kind) {
      case RopeKind::plain:
        return {};
      case RopeKind::linear:
        meta.text(key("rope.scaling.type"), "linear");
        meta.number(key("rope.scaling.factor"), rope.factor);
        return {};
      case RopeKind::yarn:
        return yarn(rope, table.factor);
      case RopeKind::llama3: {
        std::vector<float> divisors;
        for (size_t i = 0; i < table.inverse_frequencies.size(); ++i)
          divisors.push_back(
              static_cast<float>(std::pow(rope.theta, -2.0 * static_cast<double>(i) / h_.rope_dims) /
                                 table.inverse_frequencies[i]));
        add_values("rope_freqs.weight", std::move(divisors));
        return {};
      }
      case RopeKind::longrope:
        meta.integer(key("rope.scaling.original_context_length"),
                     static_cast<int64_t>(rope.original_context));
        meta.number(key("rope.scaling.attn_factor"), table.factor);
        add_values("rope_factors_long.weight", {rope.long_factors.begin(), rope.long_factors.end()});
        add_values("rope_factors_short.weight", {rope.short_factors.begin(), rope.short_factors.end()});
        return {};
      case RopeKind::dynamic:
        break;
    }
    return refuse("rope_scaling", "RoPE of the type dynamic");
  }

  Result<void> yarn(const families::Rope& rope, double factor) {
    MetaList& meta = out_->meta;
    if (rope.is_truncated != (h_.family->name != "gpt_oss"))
      return refuse("rope_scaling.truncate", "this form of YaRN");
    meta.text(key("rope.scaling.type"), "yarn");
    meta.number(key("rope.scaling.factor"), rope.factor);
    meta.integer(key("rope.scaling.original_context_length"), static_cast<int64_t>(rope.original_context));
    if (rope.beta_fast != 32) meta.number(key("rope.scaling.yarn_beta_fast"), rope.beta_fast);
    if (rope.beta_slow != 1) meta.number(key("rope.scaling.yarn_beta_slow"), rope.beta_slow);
    const double usual = rope.factor <= 1 ? 1 : 0.1 * std::log(rope.factor) + 1;
    if (std::abs(factor / usual - 1) > 1e-6) meta.number(key("rope.scaling.attn_factor"), factor / usual);
    return {};
  }

  void add_values(std::string name, std::vector<float> values) {
    Recipe recipe;
    recipe.name = std::move(name);
    recipe.shape = {values.size()};
    recipe.values = std::move(values);
    set_format(options_, &recipe);
    out_->tensors.push_back(std::move(recipe));
  }

  Result<void> windows() {
    if (h_.window == 0) return {};
    out_->meta.integer(key(Key::window), h_.window);
    std::vector<int64_t> pattern;
    bool is_implied = true;
    for (uint32_t i = 0; i < h_.layers; ++i) {
      pattern.push_back(h_.layer[i].has_window);
      is_implied = is_implied && h_.layer[i].has_window == implies_window(h_.family->windows, i);
    }
    if (!is_implied) out_->meta.integers(key("attention.sliding_window_pattern"), std::move(pattern));
    return {};
  }

  tl::unexpected<Error> refuse(const std::string& where, const std::string& what) const {
    return fail(Code::unsupported, where, what + " can't be said in a GGUF; convert to safetensors instead");
  }

  const mortise_model& model_;
  const Hyperparams& h_;
  const Options& options_;
  Plan* const out_;
};

}  // namespace

WidthsOf widths_of(const mortise_model& model, const Hyperparams& h) {
  using families::Role;
  const families::Names names(model, *h.family, h.dialect);
  const bool is_transposed = h.dialect == Dialect::hf && h.family->has(families::kTransposed);
  // The columns of what leads back: [hidden][width], or transposed.
  const auto width = [&](Role role) -> uint64_t {
    for (uint32_t layer = 0; layer < h.layers; ++layer)
      if (names.has(role, layer)) {
        const mortise_tensor& tensor = *names.tensor(names.find(role, layer));
        const bool stands_alone = role == Role::experts_down && h.dialect == Dialect::hf &&
                                  h.family->has(families::kInterleavedGateUp);
        return tensor.rank < 2 ? 0 : tensor.shape[tensor.rank - (is_transposed || stands_alone ? 2 : 1)];
      }
    return 0;
  };
  WidthsOf out;
  out.feed_forward = width(Role::ffn_down);
  out.expert = std::max(width(Role::expert_down), width(Role::experts_down));
  out.shared = width(Role::shared_down);
  if (out.feed_forward == 0) out.feed_forward = out.expert;
  const mortise_tensor* table = names.tensor(names.find(Role::token_embd));
  out.vocab = table == nullptr ? 0 : table->shape[0];
  return out;
}

Result<void> add_gguf_metadata(const mortise_model& model, const Hyperparams& h, const Options& options,
                               Plan* out) {
  return Writer(model, h, options, out).run();
}

}  // namespace mortise::convert
