// The tokenizer.ggml.* keys, checked. Thread rule: [load]. Flow: GGUF metadata -> hub::Pipeline.
#include <algorithm>

#include "bpe_model.h"
#include "load.h"

namespace mortise::bpe {
namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";
constexpr std::string_view kAddBosKey = "tokenizer.ggml.add_bos_token";
constexpr std::string_view kAddEosKey = "tokenizer.ggml.add_eos_token";

// As tokenizer.ggml.token_type numbers them; 0, 1 and 6 (byte) are taken alike: every token of a byte-level
// vocabulary stands for bytes.
enum TokenType : int64_t { kUndefined, kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct Tokens {
  std::span<const mortise_str> texts;
  std::vector<int64_t> types;
};

Result<Tokens> load_tokens(const Metadata& metadata) {
  MORTISE_TRY(texts, metadata.strings(kTokensKey));
  if (texts.empty()) return bad_key(kTokensKey, "is empty; the file holds no tokenizer");
  if (texts.size() > hub::kTokensMax)
    return bad_key(
        kTokensKey,
        "has " + std::to_string(texts.size()) + " entries; the limit is " + std::to_string(hub::kTokensMax),
        Code::limit);
  size_t total = 0;
  for (const mortise_str& token : texts) {
    if (token.size > hub::kVocabularyBytesMax - total)
      return bad_key(kTokensKey,
                     "holds more than " + std::to_string(hub::kVocabularyBytesMax) + " bytes, the limit",
                     Code::limit);
    total += token.size;
  }
  MORTISE_TRY(types, metadata.integers(kTypesKey));
  if (!types) return Tokens{texts, std::vector<int64_t>(texts.size(), kNormal)};
  if (types->size() != texts.size())
    return bad_key(kTypesKey, "has " + std::to_string(types->size()) + " entries for " +
                                  std::to_string(texts.size()) + " tokens; convert the model again");
  for (size_t i = 0; i < types->size(); ++i)
    if ((*types)[i] < kUndefined || (*types)[i] > kByte)
      return bad_key(kTypesKey, "entry " + std::to_string(i) + " is " + std::to_string((*types)[i]) +
                                    ", outside 0 to 6; convert the model again");
  return Tokens{texts, std::vector<int64_t>(types->begin(), types->end())};
}

Vocabulary make_vocabulary(const Tokens& tokens) {
  Vocabulary out;
  size_t total = 0;
  for (const mortise_str& token : tokens.texts) total += token.size;
  out.reserve(tokens.texts.size(), total);
  for (size_t i = 0; i < tokens.texts.size(); ++i)
    out.push(tokens.types[i] == kUnused ? std::string_view() : view(tokens.texts[i]));
  out.index(Spelling::alphabet);
  return out;
}

Result<std::vector<hub::AddedToken>> load_added(const Tokens& tokens) {
  std::vector<hub::AddedToken> out;
  for (size_t i = 0; i < tokens.texts.size(); ++i) {
    const int64_t type = tokens.types[i];
    const std::string_view text = view(tokens.texts[i]);
    if ((type != kUserDefined && type != kControl && type != kUnknown) || text.empty()) continue;
    if (text.size() > hub::kAddedBytesMax)
      return bad_key(kTokensKey,
                     "entry " + std::to_string(i) + " is a special token of " + std::to_string(text.size()) +
                         " bytes; the limit is " + std::to_string(hub::kAddedBytesMax),
                     Code::limit);
    hub::AddedToken token;
    token.text = text;
    token.id = static_cast<int32_t>(i);
    token.special = type != kUserDefined;
    out.push_back(std::move(token));
  }
  return out;
}

Result<Rule> parse_rule(std::string_view text, size_t index, const Vocabulary& vocabulary,
                        std::string* joined) {
  const auto bad = [&](std::string what) {
    return bad_key(kMergesKey, "entry " + std::to_string(index) + " " + what + "; convert the model again");
  };
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos || blank == 0 ||
      blank + 1 == text.size())
    return bad("isn't two tokens with one blank between them");
  joined->assign(text.substr(0, blank)).append(text.substr(blank + 1));
  const Rule rule{vocabulary.find(text.substr(0, blank)), vocabulary.find(text.substr(blank + 1)),
                  vocabulary.find(*joined), static_cast<uint32_t>(index)};
  if (rule.left == kNoToken) return bad("has a left part that isn't a token");
  if (rule.right == kNoToken) return bad("has a right part that isn't a token");
  if (rule.result == kNoToken) return bad("makes a text that isn't a token");
  return rule;
}

Result<MergeTable> load_merges(const Metadata& metadata, const Vocabulary& vocabulary) {
  MORTISE_TRY(texts, metadata.strings(kMergesKey));
  if (texts.size() > kMaxMerges)
    return bad_key(
        kMergesKey,
        "has " + std::to_string(texts.size()) + " entries; the limit is " + std::to_string(kMaxMerges),
        Code::limit);
  std::vector<Rule> rules;
  rules.reserve(texts.size());
  std::string joined;
  for (size_t i = 0; i < texts.size(); ++i) {
    MORTISE_TRY(rule, parse_rule(view(texts[i]), i, vocabulary, &joined));
    rules.push_back(rule);
  }
  return MergeTable(rules);
}

Result<int32_t> load_id(const Metadata& metadata, std::string_view key, int32_t token_count) {
  MORTISE_TRY(id, metadata.integer(key));
  if (!id) return kNoToken;
  if (*id < 0 || *id >= token_count)
    return bad_key(key, "is " + std::to_string(*id) + ", but the tokens are 0 to " +
                            std::to_string(token_count - 1) + "; convert the model again");
  return static_cast<int32_t>(*id);
}

Result<bool> load_add(const Metadata& metadata, std::string_view key, int32_t id, bool fallback) {
  MORTISE_TRY(add, metadata.boolean(key));
  if (add && *add && id == kNoToken)
    return bad_key(key, "is true, but the file names no such token; convert the model again");
  return add.value_or(fallback) && id != kNoToken;
}

Result<hub::SpecialIds> load_special_ids(const Metadata& metadata, int32_t token_count, bool add_bos) {
  hub::SpecialIds out;
  int32_t end_of_turn = kNoToken, end_of_message = kNoToken;
  // Checked, as a damaged file shows there too, but of no use to a byte-level vocabulary.
  int32_t unused = kNoToken;
  const std::pair<std::string_view, int32_t*> keys[] = {
      {"tokenizer.ggml.bos_token_id", &out.bos},     {"tokenizer.ggml.eos_token_id", &out.eos},
      {"tokenizer.ggml.eot_token_id", &end_of_turn}, {"tokenizer.ggml.eom_token_id", &end_of_message},
      {"tokenizer.ggml.unknown_token_id", &unused},  {"tokenizer.ggml.padding_token_id", &unused}};
  for (const auto& [key, id] : keys) {
    MORTISE_TRY(value, load_id(metadata, key, token_count));
    *id = value;
  }
  for (const int32_t id : {out.eos, end_of_turn, end_of_message})
    if (id != kNoToken) out.ends.push_back(id);
  MORTISE_TRY(bos, load_add(metadata, kAddBosKey, out.bos, add_bos));
  MORTISE_TRY(eos, load_add(metadata, kAddEosKey, out.eos, false));
  out.add_bos = bos;
  out.add_eos = eos;
  return out;
}

}  // namespace

Result<void> check_gguf(const Metadata& metadata) {
  MORTISE_TRY(model, metadata.string(kModelKey));
  if (!model) return bad_key(kModelKey, "is missing; the file holds no tokenizer", Code::unsupported);
  if (*model != "gpt2")
    return bad_key(kModelKey, "is " + quoted(*model) + "; byte-level BPE is \"gpt2\"", Code::unsupported);
  return {};
}

Result<Loaded> load_gguf(const Metadata& metadata) {
  MORTISE_CHECK(check_gguf(metadata));
  MORTISE_TRY(row, find_pre_tokenizer(metadata));
  hub::Parts parts;
  MORTISE_TRY(pre_tokenizer, make_pre_tokenizer(row->pattern));
  MORTISE_TRY(tokens, load_tokens(metadata));
  Vocabulary vocabulary = make_vocabulary(tokens);
  MORTISE_TRY(special_ids, load_special_ids(metadata, vocabulary.size(), row->add_bos));
  MORTISE_TRY(merges, load_merges(metadata, vocabulary));
  MORTISE_TRY(added, load_added(tokens));
  BpeOptions options;
  options.whole_words = row->ignore_merges;
  auto model = std::make_unique<BpeModel>(std::move(vocabulary), std::move(merges), options);
  for (const hub::AddedToken& token : added) model->forbid_whole(token.id);
  parts.model = std::move(model);
  parts.added = std::move(added);
  parts.pre_tokenizer = std::move(pre_tokenizer);
  if (row->nfc) parts.normalizer.add(hub::make_nfc());
  parts.decoder = hub::Decoder::byte_level();
  parts.decode_added = false;
  MORTISE_TRY(pipeline, hub::Pipeline::make(std::move(parts)));
  pipeline->set_special_ids(special_ids);
  return std::move(pipeline);
}

}  // namespace mortise::bpe
