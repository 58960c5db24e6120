// load_json: a tokenizer.json whose model is Unigram. Thread rule: [load]. Flow: blob -> hub::Pipeline.
#include "hub_unigram.h"
#include "load.h"
#include "tokenizer/special_ids.h"

namespace mortise::sentencepiece {
namespace {

constexpr const char* kName = "tokenizer.json";

Result<void> check_type(const hub::Node& model) {
  MORTISE_TRY(type, model.string("type"));
  if (type == "Unigram") return {};
  return model.bad_field("type", "is " + quoted(type) + "; this plugin reads \"Unigram\"", Code::unsupported);
}

}  // namespace

std::optional<std::string_view> unigram_json(const mortise_model& model) {
  const std::optional<std::string_view> text = is_hub(model) ? blob(model, kName) : std::nullopt;
  // Most folders' is BPE; a look spares parsing it.
  if (!text || text->find("\"Unigram\"") == std::string_view::npos) return std::nullopt;
  const auto file = hub::JsonFile::parse(*text, kName);
  if (!file) return std::nullopt;
  const auto node = file->root().at("model");
  return node && check_type(*node) ? text : std::nullopt;
}

Result<std::unique_ptr<hub::Pipeline>> load_json(std::string_view text, const mortise_model& opened) {
  MORTISE_TRY(file, hub::JsonFile::parse(text, kName));
  MORTISE_TRY(node, file.root().at("model"));
  MORTISE_CHECK(check_type(node));
  MORTISE_TRY(model, HubUnigram::load(node));
  HubUnigram* const unigram = model.get();
  MORTISE_TRY(parts, hub::load_parts(file.root(), std::move(model)));
  std::vector<int32_t> specials;
  for (const hub::AddedToken& token : parts.added)
    if (token.special) specials.push_back(token.id);
  MORTISE_CHECK(unigram->finish(specials));
  MORTISE_TRY(pipeline, hub::Pipeline::make(std::move(parts)));
  const auto find = [&](std::string_view name) { return pipeline->find(name); };
  const auto find_special = [&](std::string_view name) { return pipeline->find_special(name); };
  pipeline->set_special_ids(hub::load_special_ids(opened, pipeline->count(), find, find_special));
  return std::move(pipeline);
}

}  // namespace mortise::sentencepiece
