// See special_ids.h. Thread rule: [load]. Flow: load time only.
#include "tokenizer/special_ids.h"

#include <algorithm>
#include <string>

namespace mortise::hub {
namespace {

class Config {
 public:
  Config(const mortise_model& model, int32_t token_count) : model_(model), token_count_(token_count) {}

  std::string_view string(const std::string& key) const {
    const auto value = get(key);
    const bool fits = value && value->type == MORTISE_STRING && value->is_array == 0 && value->count == 1;
    return fits ? view(static_cast<const mortise_str*>(value->data)[0]) : std::string_view();
  }
  std::optional<bool> boolean(const std::string& key) const {
    const auto value = get(key);
    if (!value || value->type != MORTISE_BOOL || value->is_array != 0 || value->count != 1)
      return std::nullopt;
    return static_cast<const int64_t*>(value->data)[0] != 0;
  }
  /// A number or a list of them; those that are no ids are left out.
  std::vector<int32_t> ids(const std::string& key) const {
    std::vector<int32_t> out;
    const auto value = get(key);
    if (!value || value->type != MORTISE_INT) return out;
    for (uint64_t i = 0; i < value->count; ++i) {
      const int64_t id = static_cast<const int64_t*>(value->data)[i];
      if (id >= 0 && id < token_count_) out.push_back(static_cast<int32_t>(id));
    }
    return out;
  }
  /// A token of tokenizer_config.json: its text, or an object with the text as content.
  std::string_view token(const std::string& name) const {
    const std::string_view text = string("tokenizer_config." + name);
    return text.empty() ? string("tokenizer_config." + name + ".content") : text;
  }

 private:
  std::optional<mortise_meta> get(const std::string& key) const {
    mortise_meta value = {};
    if (model_.meta == nullptr || model_.meta(model_.ctx, str(key), &value) != MORTISE_OK)
      return std::nullopt;
    return value;
  }

  const mortise_model& model_;
  int32_t token_count_;
};

constexpr std::string_view kTurnEnds[] = {
#define X(text) text,
#include "tokenizer/turn_ends.inc"
#undef X
};

}  // namespace

std::vector<std::string_view> turn_ends(const FindToken& find_special) {
  std::vector<std::string_view> out;
  // In gpt-oss's form <|end|> ends one message of an answer; <|return|> ends the answer.
  const bool has_return = find_special("<|return|>") != kNoToken;
  for (const std::string_view text : kTurnEnds)
    if (!(has_return && text == "<|end|>") && find_special(text) != kNoToken) out.push_back(text);
  return out;
}

SpecialIds load_special_ids(const mortise_model& model, int32_t token_count, const FindToken& find,
                            const FindToken& find_special) {
  const Config config(model, token_count);
  SpecialIds out;
  const auto choose = [&](const std::string& name) {
    const std::string_view text = config.token(name + "_token");
    const int32_t named = text.empty() ? kNoToken : find(text);
    if (named != kNoToken) return named;
    for (const char* prefix : {"", "text_config.", "generation_config."}) {
      const std::vector<int32_t> ids = config.ids(prefix + name + "_token_id");
      if (!ids.empty()) return ids[0];
    }
    return kNoToken;
  };
  out.bos = choose("bos");
  out.eos = choose("eos");
  if (out.eos != kNoToken) out.ends.push_back(out.eos);
  for (const char* key : {"eos_token_id", "text_config.eos_token_id", "generation_config.eos_token_id"})
    for (const int32_t id : config.ids(key)) out.ends.push_back(id);
  for (const std::string_view text : turn_ends(find_special)) out.ends.push_back(find_special(text));
  std::sort(out.ends.begin(), out.ends.end());
  out.ends.erase(std::unique(out.ends.begin(), out.ends.end()), out.ends.end());
  out.add_bos = config.boolean("tokenizer_config.add_bos_token");
  out.add_eos = config.boolean("tokenizer_config.add_eos_token");
  return out;
}

}  // namespace mortise::hub
