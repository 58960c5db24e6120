// Vocabulary: from and to the metadata of GGUF files. Thread rule and flow: see vocabulary.h.
#include <mortise/cpp/model.h>

#include "vocabulary.h"

namespace mortise::convert {
namespace {

constexpr std::string_view kPrefix = "tokenizer.ggml.";

/// The array of a key with elements of `type`; null data where the key is absent.
Result<mortise_meta> array(const mortise_model& model, std::string_view name, uint32_t type) {
  const std::string key = std::string(kPrefix) + std::string(name);
  mortise_meta value{};
  if (model.meta(model.ctx, str(key), &value) != MORTISE_OK) return mortise_meta{};
  // Whole scores may be stored as integers of any width, but then they are no floats here.
  if (value.is_array == 0 || value.type != type)
    return fail(Code::bad_data, key, "is no array of the type it should have");
  return value;
}

Result<void> read_tokens(const mortise_model& model, Vocabulary* out) {
  MORTISE_TRY(texts, array(model, "tokens", MORTISE_STRING));
  MORTISE_TRY(types, array(model, "token_type", MORTISE_INT));
  MORTISE_TRY(scores, array(model, "scores", MORTISE_FLOAT));
  if (texts.data == nullptr)
    return fail(Code::bad_data, std::string(kPrefix) + "tokens", "is missing; the model has no vocabulary");
  const auto fits = [&](const mortise_meta& other) {
    return other.data == nullptr || other.count == texts.count;
  };
  if (!fits(types) || !fits(scores))
    return fail(Code::bad_data, std::string(kPrefix) + (fits(types) ? "scores" : "token_type"),
                "has another number of elements than tokens");
  for (size_t i = 0; i < texts.count; ++i) {
    Token token{std::string(view(static_cast<const mortise_str*>(texts.data)[i]))};
    if (scores.data != nullptr) token.score = static_cast<const double*>(scores.data)[i];
    if (types.data != nullptr) {
      const int64_t type = static_cast<const int64_t*>(types.data)[i];
      if (type < 1 || type > 6)
        return fail(Code::bad_data, std::string(kPrefix) + "token_type",
                    "is " + std::to_string(type) + " for token " + std::to_string(i) + ", not 1 to 6");
      token.type = static_cast<TokenType>(type);
    }
    out->tokens.push_back(std::move(token));
  }
  return {};
}

Result<void> read_ids(const Metadata& meta, Vocabulary* out) {
  const auto read = [&](const char* name, int64_t* id) -> Result<void> {
    const std::string key = std::string(kPrefix) + name;
    const auto most = static_cast<int64_t>(out->tokens.size()) - 1;
    // Files are known that say 2^32 - 1 where they mean that there is none.
    MORTISE_TRY(value, meta.integer(key, -1, kTokensMax * 256, -1));
    *id = value > most ? -1 : value;
    return {};
  };
  MORTISE_CHECK(read("bos_token_id", &out->bos));
  MORTISE_CHECK(read("eos_token_id", &out->eos));
  MORTISE_CHECK(read("unknown_token_id", &out->unknown));
  MORTISE_CHECK(read("padding_token_id", &out->padding));
  return read("eot_token_id", &out->end_of_turn);
}

std::optional<bool> flag(const mortise_model& model, const char* name) {
  mortise_meta value{};
  const std::string key = std::string(kPrefix) + name;
  if (model.meta(model.ctx, str(key), &value) != MORTISE_OK || value.type != MORTISE_BOOL || value.count != 1)
    return std::nullopt;
  return *static_cast<const int64_t*>(value.data) != 0;
}

}  // namespace

Result<Vocabulary> read_gguf_vocabulary(const mortise_model& model) {
  const Metadata meta(&model);
  Vocabulary out;
  MORTISE_TRY(kind, meta.text("tokenizer.ggml.model"));
  if (kind == "gpt2")
    out.kind = Vocabulary::Kind::byte_level_bpe;
  else if (kind == "llama")
    out.kind = Vocabulary::Kind::sentencepiece_bpe;
  else if (kind == "t5")
    out.kind = Vocabulary::Kind::unigram;
  else
    return fail(Code::unsupported, "tokenizer.ggml.model",
                "is '" + std::string(kind) + "'; gpt2, llama and t5 can be converted");
  MORTISE_CHECK(read_tokens(model, &out));
  MORTISE_CHECK(read_ids(meta, &out));
  MORTISE_TRY(pre, meta.text("tokenizer.ggml.pre", "default"));
  out.pre_tokenizer = pre;
  MORTISE_TRY(merges, array(model, "merges", MORTISE_STRING));
  for (size_t i = 0; i < merges.count; ++i)
    out.merges.emplace_back(view(static_cast<const mortise_str*>(merges.data)[i]));
  MORTISE_TRY(charsmap, array(model, "precompiled_charsmap", MORTISE_INT));
  for (size_t i = 0; i < charsmap.count; ++i)
    out.charsmap.push_back(static_cast<char>(static_cast<const int64_t*>(charsmap.data)[i]));
  out.add_bos = flag(model, "add_bos_token");
  out.add_eos = flag(model, "add_eos_token");
  settle_gguf_adds(&out);
  out.add_space_prefix = flag(model, "add_space_prefix").value_or(true);
  out.removes_extra_whitespace = flag(model, "remove_extra_whitespaces").value_or(false);
  MORTISE_TRY(chat, meta.text("tokenizer.chat_template", ""));
  out.chat_template = chat;
  return out;
}

void add_gguf_vocabulary(const Vocabulary& vocabulary, MetaList* out) {
  static constexpr const char* kKinds[] = {"gpt2", "llama", "t5"};
  out->text("tokenizer.ggml.model", kKinds[static_cast<size_t>(vocabulary.kind)]);
  const bool is_byte_level = vocabulary.kind == Vocabulary::Kind::byte_level_bpe;
  out->text("tokenizer.ggml.pre", is_byte_level ? vocabulary.pre_tokenizer : "default");
  std::vector<std::string> texts;
  std::vector<double> scores;
  std::vector<int64_t> types;
  for (const Token& token : vocabulary.tokens) {
    texts.push_back(token.text);
    scores.push_back(token.score);
    types.push_back(static_cast<int64_t>(token.type));
  }
  out->texts("tokenizer.ggml.tokens", std::move(texts));
  if (!is_byte_level) out->numbers("tokenizer.ggml.scores", std::move(scores));
  out->integers("tokenizer.ggml.token_type", std::move(types));
  if (is_byte_level) out->texts("tokenizer.ggml.merges", vocabulary.merges);
  const auto id = [&](const char* key, int64_t value) {
    if (value >= 0) out->integer(key, value);
  };
  id("tokenizer.ggml.bos_token_id", vocabulary.bos);
  id("tokenizer.ggml.eos_token_id", vocabulary.eos);
  id("tokenizer.ggml.unknown_token_id", vocabulary.unknown);
  id("tokenizer.ggml.padding_token_id", vocabulary.padding);
  id("tokenizer.ggml.eot_token_id", vocabulary.end_of_turn);
  if (vocabulary.add_bos) out->boolean("tokenizer.ggml.add_bos_token", *vocabulary.add_bos);
  if (vocabulary.add_eos) out->boolean("tokenizer.ggml.add_eos_token", *vocabulary.add_eos);
  if (!is_byte_level) {
    out->boolean("tokenizer.ggml.add_space_prefix", vocabulary.add_space_prefix);
    out->boolean("tokenizer.ggml.remove_extra_whitespaces", vocabulary.removes_extra_whitespace);
  }
  if (!vocabulary.charsmap.empty()) {
    std::vector<int64_t> bytes;
    for (const char c : vocabulary.charsmap) bytes.push_back(static_cast<uint8_t>(c));
    out->integers("tokenizer.ggml.precompiled_charsmap", std::move(bytes));
  }
  if (!vocabulary.chat_template.empty()) out->text("tokenizer.chat_template", vocabulary.chat_template);
}

}  // namespace mortise::convert
