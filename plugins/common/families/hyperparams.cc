// Finding the family, and the sizes that both dialects have. Thread rule: [load]. Flow: see hyperparams.h.
#include "families/hyperparams.h"

#include <cmath>
#include <set>

#include "families/read.h"

namespace mortise::families {
namespace {

struct Known {
  const Family* family;
  Dialect dialect;
  std::string_view name;
};

Result<Known> find_known(const mortise_model& model) {
  const std::string_view dialect = model.dialect;
  if (dialect != "gguf" && dialect != "hf")
    return fail(Code::unsupported, "", "reads the dialects gguf and hf, not " + std::string(dialect));
  const Metadata meta(&model);
  const bool is_gguf = dialect == "gguf";
  const char* key = is_gguf ? "general.architecture" : "model_type";
  MORTISE_TRY(name, meta.text(key));
  const Dialect which = is_gguf ? Dialect::gguf : Dialect::hf;
  MORTISE_TRY(experts, is_gguf ? meta.integer(std::string(name) + ".expert_count", 0, kExpertsMax, 0)
                               : Result<int64_t>(0));
  const Family* family = find_family(which, name, experts > 0);
  if (family == nullptr)
    return fail(Code::unsupported, key, "is '" + std::string(name) + "'; known are " + family_names(which));
  return Known{family, which, name};
}

std::string prefix_of(const Known& known, const Metadata& meta) {
  if (known.dialect == Dialect::gguf) return std::string(known.name) + ".";
  // A model for pictures and text has its text part's numbers one level down.
  return meta.has("text_config.hidden_size") && !meta.has("hidden_size") ? "text_config." : "";
}

}  // namespace

Result<void> check_known(const mortise_model& model) {
  MORTISE_TRY(known, find_known(model));
  (void)known;
  return {};
}

Result<Hyperparams> read_hyperparams(const mortise_model& model) {
  MORTISE_TRY(known, find_known(model));
  const Metadata meta(&model);
  const Source source{meta, model, *known.family, known.dialect, prefix_of(known, meta)};
  Hyperparams out;
  out.family = known.family;
  out.dialect = known.dialect;
  out.name = known.name;
  out.activation = known.family->activation;
  out.is_softmax_of_chosen = known.family->has(kSoftmaxOfChosen);
  out.has_qkv_bias = known.family->has(kQkvBias);
  MORTISE_CHECK(check_tensors(source));
  MORTISE_CHECK(known.dialect == Dialect::gguf ? read_gguf(source, &out) : read_hf(source, &out));
  return out;
}

Result<double> positive(const Source& source, const std::string& key, std::optional<double> fallback) {
  MORTISE_TRY(value, source.meta.number(key, fallback));
  if (!(value >= 1e-30 && value <= 1e30))
    return fail(Code::bad_data, key, "is not a positive number of a sane size");
  return value;
}

Result<void> check_fixed(const Source& source, const Fixed* table, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const std::string key = source.key(table[i].key);
    std::string_view except = table[i].except;
    if (("|" + std::string(except) + "|").find("|" + std::string(source.family.name) + "|") !=
        std::string::npos)
      continue;
    mortise_meta value;
    if (source.model.meta(source.model.ctx, str(key), &value) != MORTISE_OK) continue;
    const bool is_whole = value.type == MORTISE_BOOL || value.type == MORTISE_INT;
    if (value.is_array == 0 && value.count == 1 && (is_whole || value.type == MORTISE_FLOAT)) {
      const double says = is_whole ? static_cast<double>(*static_cast<const int64_t*>(value.data))
                                   : *static_cast<const double*>(value.data);
      if (says == table[i].value) continue;
    }
    return fail(Code::unsupported, key,
                "asks for a computation that the family " + std::string(source.family.name) +
                    " has not here; such models are not supported");
  }
  return {};
}

Result<void> check_tensors(const Source& source) {
  constexpr auto kRoles = static_cast<uint8_t>(Role::shared_down) + 1;
  const auto names_of = [&](const Family& family, std::set<std::string>* out) {
    for (uint8_t role = 0; role < kRoles; ++role)
      for (const std::string_view name :
           choices(name_template(family, source.dialect, static_cast<Role>(role))))
        out->insert(fill(name, 0, 0));
  };
  std::set<std::string> own, all;
  names_of(source.family, &own);
  for (uint64_t i = 0; i < family_count(); ++i) names_of(family_at(i), &all);
  for (const std::string& name : all)
    if (own.count(name) == 0 && source.model.tensor(source.model.ctx, str(name)) != nullptr)
      return fail(Code::unsupported, name,
                  "is a tensor that the family " + std::string(source.family.name) +
                      " has no place for; such models are not supported");
  return {};
}

Result<void> read_sizes(const Source& source, int64_t head_dim, Hyperparams* out) {
  const Metadata& meta = source.meta;
  MORTISE_TRY(layers, meta.integer(source.key(Key::layers), 1, kLayersMax));
  MORTISE_TRY(hidden, meta.integer(source.key(Key::hidden), 1, kHiddenMax));
  // Configs of Gemma 3 for pictures and text leave out what is as in the smallest one.
  const bool is_inner = source.prefix == "text_config.";
  const auto usual_of = [&](int64_t value) {
    return is_inner ? std::optional<int64_t>(value) : std::nullopt;
  };
  MORTISE_TRY(heads, meta.integer(source.key(Key::heads), 1, kHeadsMax, usual_of(8)));
  MORTISE_TRY(kv_heads, meta.integer(source.key(Key::kv_heads), 1, heads, is_inner ? 4 : heads));
  MORTISE_TRY(context, meta.integer(source.key(Key::context), 1, kContextMax, usual_of(131072)));
  MORTISE_TRY(eps,
              meta.number(source.key(Key::norm_eps), is_inner ? std::optional<double>(1e-6) : std::nullopt));
  if (!(eps >= 0 && eps < 1)) return fail(Code::bad_data, source.key(Key::norm_eps), "is not in [0, 1)");
  if (heads % kv_heads != 0)
    return fail(Code::bad_data, source.key(Key::kv_heads),
                "= " + std::to_string(kv_heads) + " does not divide the " + std::to_string(heads) + " heads");
  if (head_dim == 0 && !meta.has(source.key(Key::head_dim)) && hidden % heads != 0)
    return fail(Code::bad_data, source.key(Key::heads),
                "= " + std::to_string(heads) + " does not divide the hidden size " + std::to_string(hidden));
  const int64_t usual =
      std::min(head_dim != 0 ? head_dim : std::max<int64_t>(hidden / heads, 1), kHeadDimMax);
  MORTISE_TRY(dim, meta.integer(source.key(Key::head_dim), 1, kHeadDimMax, usual));
  out->layers = static_cast<uint32_t>(layers);
  out->hidden = static_cast<uint32_t>(hidden);
  out->heads = static_cast<uint32_t>(heads);
  out->kv_heads = static_cast<uint32_t>(kv_heads);
  out->head_dim = static_cast<uint32_t>(dim);
  out->context = static_cast<uint32_t>(context);
  out->norm_eps = eps;
  out->layer.assign(out->layers, {});
  out->attention_scale = 1 / std::sqrt(static_cast<double>(out->head_dim));
  if (source.family.has(kScaledEmbedding)) out->embedding_scale = std::sqrt(static_cast<double>(hidden));
  for (Layer& layer : out->layer) layer.has_rope = !source.family.has(kPositions);
  return {};
}

}  // namespace mortise::families
