// A hub config out of hyperparameters. Thread rule and flow: see hub_config.h.
// Names: the config classes of transformers.
#include "hub_config.h"

#include <algorithm>
#include <cmath>

#include "json/json.h"

namespace mortise::convert {
namespace {

using families::Dialect;
using families::Hyperparams;
using families::Key;
using families::Role;
using families::RopeKind;
using families::Windows;

// Of Llama 3's rule a table of divisors shows one number; the others are those of all known models.
constexpr double kLlama3Original = 8192, kLlama3Low = 1, kLlama3High = 4;
constexpr double kLlama3Error = 1e-3;

struct ClassName {
  std::string_view family, name;
};
constexpr ClassName kClassNames[] = {
#include "class_names.inc"
};

/// The shortest decimal that means the same float32, which is what a GGUF holds.
double decimal(double value) {
  std::string text;
  json::Writer(&text).number(static_cast<float>(value));
  return std::stod(text);
}

class Config {
 public:
  Config(const mortise_model& model, const Hyperparams& h)
      : model_(model), h_(h), names_(model, *h.family, h.dialect), widths_(widths_of(model, h)) {}

  Result<std::string> run() {
    for (const ClassName& row : kClassNames)
      if (row.family == h_.family->name) json_["architectures"] = json::Value::array({row.name});
    json_["model_type"] = h_.family->hf.substr(0, h_.family->hf.find('|'));
    sizes();
    activation();
    biases();
    scales();
    experts();
    tokens();
    json_["tie_word_embeddings"] = !names_.has(Role::output);
    if (h_.family->has(families::kPositions)) return json::dump(json_);
    MORTISE_CHECK(rope());
    windows();
    return json::dump(json_);
  }

 private:
  std::string key(Key what) const { return std::string(families::key_name(*h_.family, Dialect::hf, what)); }
  bool is(std::string_view family) const { return h_.family->name == family; }

  void sizes() {
    json_[key(Key::layers)] = h_.layers;
    json_[key(Key::hidden)] = h_.hidden;
    json_[key(Key::heads)] = h_.heads;
    json_[key(Key::context)] = h_.context;
    json_[key(Key::norm_eps)] = decimal(h_.norm_eps);
    json_["vocab_size"] = widths_.vocab;
    json_[is("gpt2") ? "n_inner" : "intermediate_size"] = widths_.feed_forward;
    if (is("gpt2")) return;
    json_[key(Key::kv_heads)] = h_.kv_heads;
    json_["head_dim"] = h_.head_dim;
  }

  void activation() {
    const bool is_gelu = h_.family->activation == "gelu_tanh";
    const char* name = is("gpt2")                             ? "activation_function"
                       : h_.family->name.starts_with("gemma") ? "hidden_activation"
                                                              : "hidden_act";
    json_[name] = !is_gelu ? "silu" : is("gpt2") ? "gelu_new" : "gelu_pytorch_tanh";
  }

  /// Each family has its own of these keys and ignores the others.
  void biases() {
    if (h_.family->has(families::kQkvBias)) return;
    const auto has = [&](Role role) {
      return names_.tensor(families::bias_name(names_.find(role, 0))) != nullptr;
    };
    json_["attention_bias"] = has(Role::attn_output);
    json_["use_qkv_bias"] = has(Role::attn_q);
    json_["mlp_bias"] = json_["use_bias"] = has(Role::ffn_down);
  }

  void scales() {
    const double scale =
        h_.attention_scale != 0 ? h_.attention_scale : 1 / std::sqrt(static_cast<double>(h_.head_dim));
    if (h_.family->has(families::kMultipliers)) {
      json_["embedding_multiplier"] = decimal(h_.embedding_scale);
      json_["residual_multiplier"] = decimal(h_.residual_scale);
      json_["attention_multiplier"] = decimal(scale);
      json_["logits_scaling"] = decimal(1 / h_.logit_scale);
    }
    if (h_.family->has(families::kSoftcaps)) {
      json_["query_pre_attn_scalar"] = std::round(1e4 / (scale * scale)) / 1e4;
      const auto cap = [&](double value) { return value == 0 ? json::Value() : json::Value(decimal(value)); };
      json_["attn_logit_softcapping"] = cap(h_.attention_softcap);
      json_["final_logit_softcapping"] = cap(h_.logit_softcap);
    }
    if (h_.is_parallel) json_["use_parallel_residual"] = true;
  }

  void experts() {
    if (h_.experts == 0) return;
    json_[key(Key::experts)] = h_.experts;
    json_[key(Key::experts_used)] = h_.experts_used;
    json_["norm_topk_prob"] = h_.is_renormalized;
    json_["moe_intermediate_size"] = widths_.expert;
    if (widths_.shared > 0) json_["shared_expert_intermediate_size"] = widths_.shared;
    json_["decoder_sparse_step"] = 1;
    json::Value dense = json::Value::array();
    for (uint32_t i = 0; i < h_.layers; ++i)
      if (!h_.layer[i].has_experts) dense.push_back(i);
    json_["mlp_only_layers"] = dense;
  }

  void tokens() {
    const auto id = [&](const char* hub, const char* gguf) {
      mortise_meta value{};
      if (model_.meta(model_.ctx, str(gguf), &value) == MORTISE_OK && value.type == MORTISE_INT &&
          value.count == 1)
        json_[hub] = *static_cast<const int64_t*>(value.data);
    };
    id("bos_token_id", "tokenizer.ggml.bos_token_id");
    id("eos_token_id", "tokenizer.ggml.eos_token_id");
  }

  Result<void> rope() {
    const families::Rope& rope = h_.rope;
    json_["rope_theta"] = decimal(rope.theta);
    if (h_.rope_dims != h_.head_dim || is("stablelm"))
      json_["partial_rotary_factor"] = static_cast<double>(h_.rope_dims) / h_.head_dim;
    if (h_.family->has(families::kLocalRope)) json_["rope_local_base_freq"] = decimal(h_.local_rope.theta);
    if (h_.family->windows == Windows::without_rope) {
      json_["no_rope_layers"] = json::Value::array();
      for (const families::Layer& layer : h_.layer) json_["no_rope_layers"].push_back(layer.has_rope ? 1 : 0);
    }
    if (!rope.divisors.empty()) return llama3();
    json::Value scaling;
    switch (rope.kind) {
      case RopeKind::plain:
        return {};
      case RopeKind::linear:
        scaling = {{"rope_type", "linear"}, {"factor", decimal(rope.factor)}};
        break;
      case RopeKind::yarn:
        scaling = {{"rope_type", "yarn"},
                   {"factor", decimal(rope.factor)},
                   {"original_max_position_embeddings", static_cast<int64_t>(rope.original_context)},
                   {"attention_factor", rope.attention_factor},
                   {"beta_fast", decimal(rope.beta_fast)},
                   {"beta_slow", decimal(rope.beta_slow)},
                   {"truncate", rope.is_truncated}};
        break;
      case RopeKind::longrope: {
        MORTISE_TRY(table, families::rope_table(rope, h_.rope_dims));
        scaling = {{"rope_type", "longrope"},
                   {"short_factor", rope.short_factors},
                   {"long_factor", rope.long_factors},
                   {"attention_factor", table.factor}};
        json_["original_max_position_embeddings"] = static_cast<int64_t>(rope.original_context);
        break;
      }
      default:
        return fail(Code::unsupported, "rope.scaling.type",
                    "has no counterpart in config.json; convert to gguf");
    }
    json_["rope_scaling"] = std::move(scaling);
    return {};
  }

  Result<void> llama3() {
    families::Rope rule = h_.rope;
    const std::vector<double> divisors = std::move(rule.divisors);
    rule.divisors.clear();
    rule.kind = RopeKind::llama3;
    rule.factor = *std::max_element(divisors.begin(), divisors.end());
    rule.original_context = kLlama3Original;
    rule.low_freq_factor = kLlama3Low;
    rule.high_freq_factor = kLlama3High;
    MORTISE_TRY(table, families::rope_table(rule, h_.rope_dims));
    if (divisors.size() != table.inverse_frequencies.size())
      return fail(Code::bad_data, "rope_freqs.weight",
                  "has " + std::to_string(divisors.size()) + " factors instead of " +
                      std::to_string(table.inverse_frequencies.size()) + "; the file is damaged");
    for (size_t i = 0; i < divisors.size(); ++i) {
      const double plain = std::pow(rule.theta, -2.0 * static_cast<double>(i) / h_.rope_dims);
      if (std::abs(plain / table.inverse_frequencies[i] / divisors[i] - 1) > kLlama3Error)
        return fail(
            Code::unsupported, "rope_freqs.weight",
            "does not hold the factors of Llama 3's rule over 8192 tokens, which is all that config.json can "
            "say; convert to gguf");
    }
    json_["rope_scaling"] = {{"rope_type", "llama3"},
                             {"factor", decimal(rule.factor)},
                             {"low_freq_factor", kLlama3Low},
                             {"high_freq_factor", kLlama3High},
                             {"original_max_position_embeddings", static_cast<int64_t>(kLlama3Original)}};
    return {};
  }

  void windows() {
    if (h_.window == 0) {
      json_["sliding_window"] = nullptr;
      return;
    }
    json_["sliding_window"] = h_.window;
    json_["use_sliding_window"] = true;
    if (!h_.family->has(families::kLayerTypes)) return;
    json_["layer_types"] = json::Value::array();
    for (const families::Layer& layer : h_.layer)
      json_["layer_types"].push_back(layer.has_window ? "sliding_attention" : "full_attention");
  }

  const mortise_model& model_;
  const Hyperparams& h_;
  const families::Names names_;
  const WidthsOf widths_;
  json::Value json_ = json::Value::object();
};

}  // namespace

Result<std::string> hub_config(const mortise_model& model, const Hyperparams& h) {
  return Config(model, h).run();
}

}  // namespace mortise::convert
