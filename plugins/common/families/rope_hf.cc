// RoPE as config.json has it, in either spelling: `rope_theta` beside `rope_scaling` (its kind under `type`
// or `rope_type`), or `rope_parameters`, which may hold one group for each kind of layers. Thread rule and
// flow: see read.h.
#include <cmath>

#include "families/read.h"

namespace mortise::families {
namespace {

/// The group of keys that says the most: with its dot, or empty where there is none.
std::string group_of(const Source& source, std::string_view layer_type) {
  const auto is_there = [&](const std::string& group) {
    for (const char* key : {"rope_type", "type", "rope_theta", "factor"})
      if (source.meta.has(group + key)) return true;
    return false;
  };
  const std::string parameters = source.key("rope_parameters.");
  const std::string own = parameters + std::string(layer_type) + ".";
  if (is_there(own)) return own;
  // Layers with a window of their own RoPE know no scaling of the old spelling.
  if (layer_type == "sliding_attention") return "";
  for (const std::string& group : {source.key("rope_scaling."), parameters})
    if (is_there(group)) return group;
  return "";
}

Result<RopeKind> read_kind(const Source& source, const std::string& group) {
  if (group.empty()) return RopeKind::plain;
  const std::string key = group + (source.meta.has(group + "rope_type") ? "rope_type" : "type");
  MORTISE_TRY(type, source.meta.text(key, "default"));
  if (type == "default") return RopeKind::plain;
  if (type == "linear") return RopeKind::linear;
  if (type == "dynamic") return RopeKind::dynamic;
  if (type == "llama3") return RopeKind::llama3;
  const bool is_old_longrope = source.family.name == "phi3" && (type == "su" || type == "yarn");
  if (type == "longrope" || is_old_longrope) return RopeKind::longrope;
  if (type == "yarn") return RopeKind::yarn;
  return fail(Code::unsupported, key,
              "is '" + std::string(type) + "'; known are default, linear, dynamic, yarn, longrope, llama3");
}

double usual_theta(const Source& source, std::string_view layer_type) {
  const std::string_view family = source.family.name;
  if (source.family.has(kLocalRope)) return layer_type == "full_attention" ? 1e6 : 1e4;
  if (family == "mixtral") return 1e6;
  if (family == "smollm3") return 2e6;
  return family == "gpt_oss" ? 150000 : 10000;
}

Result<void> read_dims(const Source& source, const std::string& group, Hyperparams* out) {
  std::string key = group + "partial_rotary_factor";
  if (group.empty() || !source.meta.has(key)) key = source.key("partial_rotary_factor");
  MORTISE_TRY(share, positive(source, key, source.family.name == "stablelm" ? 0.25 : 1.0));
  const auto dims = static_cast<int64_t>(out->head_dim * std::min(share, 2.0));
  if (share > 1 || dims < 2 || dims % 2 != 0)
    return fail(Code::bad_data, key,
                "gives " + std::to_string(dims) + " rotated columns of " + std::to_string(out->head_dim) +
                    "; needed is an even number from 2 on");
  out->rope_dims = static_cast<uint32_t>(dims);
  return {};
}

/// Tokens before scaling. A key outside of the group comes first (phi3).
Result<double> read_original(const Source& source, const std::string& group, RopeKind kind,
                             uint32_t context) {
  if (kind == RopeKind::dynamic) return static_cast<double>(context);
  std::string key = source.key("original_max_position_embeddings");
  if (!source.meta.has(key)) key = group + "original_max_position_embeddings";
  const int64_t usual = source.family.name == "phi3" ? 4096 : context;
  MORTISE_TRY(original, source.meta.integer(key, 1, kContextMax, usual));
  return static_cast<double>(original);
}

Result<void> read_yarn(const Source& source, const std::string& group, Rope* out) {
  MORTISE_TRY(fast, positive(source, group + "beta_fast", 32.0));
  MORTISE_TRY(slow, positive(source, group + "beta_slow", 1.0));
  MORTISE_TRY(truncated, source.meta.boolean(group + "truncate", true));
  MORTISE_TRY(scale, source.meta.number(group + "mscale", 0.0));
  MORTISE_TRY(all, source.meta.number(group + "mscale_all_dim", 0.0));
  out->beta_fast = fast;
  out->beta_slow = slow;
  out->is_truncated = truncated;
  out->mscale = scale;
  out->mscale_all_dim = all;
  return {};
}

Result<void> read_llama3(const Source& source, const std::string& group, Rope* out) {
  MORTISE_TRY(low, positive(source, group + "low_freq_factor"));
  MORTISE_TRY(high, positive(source, group + "high_freq_factor"));
  if (high <= low)
    return fail(Code::bad_data, group + "high_freq_factor", "is not greater than low_freq_factor");
  out->low_freq_factor = low;
  out->high_freq_factor = high;
  return {};
}

Result<void> read_scaling(const Source& source, const std::string& group, uint32_t context, Rope* out) {
  MORTISE_TRY(original, read_original(source, group, out->kind, context));
  out->original_context = original;
  // longrope and yarn have a use for the factor that follows from the two contexts.
  const bool may_lack = out->kind == RopeKind::longrope || out->kind == RopeKind::yarn;
  const std::optional<double> usual = may_lack ? std::optional<double>(context / original) : std::nullopt;
  MORTISE_TRY(factor, positive(source, group + "factor", usual));
  out->factor = factor;
  if (may_lack && source.meta.has(group + "attention_factor")) {
    MORTISE_TRY(attention, positive(source, group + "attention_factor"));
    out->attention_factor = attention;
  }
  if (out->kind == RopeKind::yarn) return read_yarn(source, group, out);
  if (out->kind == RopeKind::llama3) return read_llama3(source, group, out);
  if (out->kind != RopeKind::longrope) return {};
  MORTISE_TRY(short_factors, source.meta.numbers(group + "short_factor", kHeadDimMax));
  MORTISE_TRY(long_factors, source.meta.numbers(group + "long_factor", kHeadDimMax));
  out->short_factors = std::move(short_factors);
  out->long_factors = std::move(long_factors);
  return {};
}

}  // namespace

Result<Rope> read_hf_rope(const Source& source, std::string_view layer_type, Hyperparams* out) {
  const std::string group = group_of(source, layer_type);
  Rope rope;
  MORTISE_TRY(kind, read_kind(source, group));
  rope.kind = kind;
  std::string theta_key = group + "rope_theta";
  if (group.empty() || !source.meta.has(theta_key))
    theta_key = source.key(layer_type == "sliding_attention" ? "rope_local_base_freq" : "rope_theta");
  MORTISE_TRY(theta, positive(source, theta_key, usual_theta(source, layer_type)));
  rope.theta = theta;
  rope.original_context = out->context;
  MORTISE_CHECK(read_dims(source, group, out));
  if (kind != RopeKind::plain) MORTISE_CHECK(read_scaling(source, group, out->context, &rope));
  return rope;
}

}  // namespace mortise::families
