// Reading a decoder's metadata. Thread rule: [load]. Flow: see hyperparams.h.
#include "hyperparams.h"

#include <cmath>

namespace decoder {
namespace {

using mortise::Code;
using mortise::fail;
using mortise::Metadata;
using mortise::Result;

constexpr Family kFamilies[] = {
#include "families.inc"
};

/// RoPE scaling that this plugin knows: none and linear. Scaling by a table of factors is a tensor, not
/// metadata.
Result<double> read_rope_factor(const Metadata& meta, const std::string& arch) {
  MORTISE_TRY(type, meta.text(arch + ".rope.scaling.type", "none"));
  if (type == "none" || type.empty()) return meta.number(arch + ".rope.scale_linear", 1.0);
  if (type != "linear")
    return fail(Code::unsupported, arch + ".rope.scaling.type",
                "is '" + std::string(type) + "'; known are none and linear");
  return meta.number(arch + ".rope.scaling.factor");
}

}  // namespace

const Family* find_family(std::string_view name) {
  for (const Family& family : kFamilies)
    if (family.name == name) return &family;
  return nullptr;
}

std::string family_names() {
  std::string out;
  for (const Family& family : kFamilies) out += (out.empty() ? "" : ", ") + std::string(family.name);
  return out;
}

Result<Hyperparams> read_hyperparams(const mortise_model& model) {
  const Metadata meta(&model);
  MORTISE_TRY(name, meta.text("general.architecture"));
  Hyperparams out;
  out.family = find_family(name);
  if (out.family == nullptr)
    return fail(Code::unsupported, "general.architecture",
                "is '" + std::string(name) + "'; known are " + family_names());
  const std::string arch(name);
  MORTISE_TRY(layers, meta.integer(arch + ".block_count", 1, kLayersMax));
  MORTISE_TRY(hidden, meta.integer(arch + ".embedding_length", 1, kHiddenMax));
  MORTISE_TRY(heads, meta.integer(arch + ".attention.head_count", 1, kHeadsMax));
  MORTISE_TRY(kv_heads, meta.integer(arch + ".attention.head_count_kv", 1, heads, heads));
  MORTISE_TRY(context, meta.integer(arch + ".context_length", 1, kContextMax));
  if (heads % kv_heads != 0)
    return fail(Code::bad_data, arch + ".attention.head_count_kv",
                "= " + std::to_string(kv_heads) + " does not divide the " + std::to_string(heads) + " heads");
  const bool has_key_length = meta.has(arch + ".attention.key_length");
  if (!has_key_length && hidden % heads != 0)
    return fail(
        Code::bad_data, arch + ".attention.head_count",
        "= " + std::to_string(heads) + " does not divide the embedding length " + std::to_string(hidden));
  MORTISE_TRY(head_dim, meta.integer(arch + ".attention.key_length", 1, kHeadDimMax, hidden / heads));
  MORTISE_TRY(value_dim, meta.integer(arch + ".attention.value_length", 1, kHeadDimMax, head_dim));
  if (value_dim != head_dim)
    return fail(
        Code::unsupported, arch + ".attention.value_length",
        "= " + std::to_string(value_dim) + " differs from the key length " + std::to_string(head_dim));
  MORTISE_TRY(rope_dims, meta.integer(arch + ".rope.dimension_count", 2, head_dim, head_dim));
  if (rope_dims % 2 != 0)
    return fail(Code::bad_data, arch + ".rope.dimension_count", "= " + std::to_string(rope_dims) + " is odd");
  MORTISE_TRY(theta, meta.number(arch + ".rope.freq_base", 10000.0));
  MORTISE_TRY(factor, read_rope_factor(meta, arch));
  MORTISE_TRY(eps, meta.number(arch + ".attention.layer_norm_rms_epsilon"));
  if (theta <= 0 || factor <= 0 || eps < 0)
    return fail(Code::bad_data,
                arch + (theta <= 0    ? ".rope.freq_base"
                        : factor <= 0 ? ".rope.scaling.factor"
                                      : ".attention.layer_norm_rms_epsilon"),
                "is not positive");
  out.layers = static_cast<uint32_t>(layers);
  out.hidden = static_cast<uint32_t>(hidden);
  out.heads = static_cast<uint32_t>(heads);
  out.kv_heads = static_cast<uint32_t>(kv_heads);
  out.head_dim = static_cast<uint32_t>(head_dim);
  out.context = static_cast<uint32_t>(context);
  out.rope_dims = static_cast<uint32_t>(rope_dims);
  out.rope_theta = theta;
  out.rope_factor = factor;
  out.norm_eps = eps;
  return out;
}

}  // namespace decoder
