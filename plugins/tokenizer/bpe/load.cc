// Which file of a model holds its tokenizer. Thread rule: [load]. Flow: an opened model -> hub::Pipeline.
#include "load.h"

namespace mortise::bpe {
namespace {

Metadata metadata_of(const mortise_model& model) {
  return Metadata([&model](std::string_view key) -> std::optional<mortise_meta> {
    mortise_meta value = {};
    if (model.meta(model.ctx, str(key), &value) != MORTISE_OK) return std::nullopt;
    return value;
  });
}

std::optional<std::string_view> blob(const mortise_model& model, std::string_view name) {
  mortise_bytes bytes = {};
  if (model.blob == nullptr || model.blob(model.ctx, str(name), &bytes) != MORTISE_OK) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.size);
}

bool is_hub(const mortise_model& model) {
  return model.dialect != nullptr && std::string_view(model.dialect) == "hf";
}

Result<Loaded> load_blob(const mortise_model& model) {
  if (const auto text = blob(model, "tokenizer.json")) return load_hub(*text);
  const auto config = blob(model, "tokenizer_config.json");
  // Without a template nothing that a model is told spells special tokens, and Mistral's own reader never
  // takes text for one.
  if (const auto text = blob(model, "tekken.json"))
    return load_tekken(*text, config.has_value() || blob(model, "chat_template.jinja").has_value());
  if (const auto text = blob(model, "tokenizer.tiktoken")) {
    MORTISE_TRY(type, metadata_of(model).string("model_type"));
    return load_tiktoken(*text, config.value_or(""), type.value_or(""));
  }
  return fail(Code::unsupported, "tokenizer",
              "the model has no tokenizer.json, tekken.json or tiktoken file; fetch one of them");
}

}  // namespace

Result<void> check_model(const mortise_model& model) {
  if (!is_hub(model)) return check_gguf(metadata_of(model));
  if (const auto text = blob(model, "tokenizer.json")) return check_hub(*text);
  if (blob(model, "tekken.json") || blob(model, "tokenizer.tiktoken")) return {};
  return fail(Code::unsupported, "tokenizer",
              "the model has no tokenizer.json, tekken.json or tiktoken file; fetch one of them");
}

Result<Loaded> load(const mortise_model& model) {
  if (!is_hub(model)) return load_gguf(metadata_of(model));
  MORTISE_TRY(pipeline, load_blob(model));
  const auto find = [&](std::string_view text) { return pipeline->find(text); };
  const auto find_special = [&](std::string_view text) { return pipeline->find_special(text); };
  hub::SpecialIds ids = hub::load_special_ids(model, pipeline->count(), find, find_special);
  const hub::SpecialIds& own = pipeline->special_ids();  // of files without configuration
  if (ids.bos == kNoToken) ids.bos = own.bos;
  if (ids.eos == kNoToken) ids.eos = own.eos;
  if (!ids.add_bos) ids.add_bos = own.add_bos;
  if (own.eos != kNoToken) ids.ends.push_back(own.eos);
  pipeline->set_special_ids(ids);
  return std::move(pipeline);
}

}  // namespace mortise::bpe
