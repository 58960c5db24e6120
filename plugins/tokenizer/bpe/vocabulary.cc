// See vocabulary.h. Thread rule: immutable after load, any thread. Flow: load time; find() also while
// encoding.
#include "vocabulary.h"

#include "tokenizer/byte_alphabet.h"
#include "hash.h"

namespace mortise::bpe {
namespace {

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";

Result<std::vector<TokenType>> load_types(const Metadata& metadata, size_t count) {
  MORTISE_TRY(types, metadata.integers(kTypesKey));
  if (!types) return std::vector<TokenType>(count, TokenType::normal);
  if (types->size() != count)
    return bad_key(kTypesKey, "has " + std::to_string(types->size()) + " entries for " +
                                  std::to_string(count) + " tokens; convert the model again");
  std::vector<TokenType> out(count);
  for (size_t i = 0; i < count; ++i) {
    const int64_t type = (*types)[i];
    if (type < 0 || type > static_cast<int64_t>(TokenType::byte))
      return bad_key(kTypesKey, "entry " + std::to_string(i) + " is " + std::to_string(type) +
                                    ", outside 0 to 6; convert the model again");
    out[i] = static_cast<TokenType>(type);
  }
  return out;
}

}  // namespace

Result<Vocabulary> Vocabulary::load(const Metadata& metadata) {
  MORTISE_TRY(tokens, metadata.strings(kTokensKey));
  if (tokens.empty()) return bad_key(kTokensKey, "is empty; the file holds no tokenizer");
  if (tokens.size() > kMaxTokens)
    return bad_key(
        kTokensKey,
        "has " + std::to_string(tokens.size()) + " entries; the limit is " + std::to_string(kMaxTokens),
        Code::limit);
  size_t total = 0;
  for (const mortise_str& token : tokens) {
    if (token.size > kMaxVocabularyBytes - total)
      return bad_key(kTokensKey,
                     "holds more than " + std::to_string(kMaxVocabularyBytes) + " bytes, the limit",
                     Code::limit);
    total += token.size;
  }
  MORTISE_TRY(types, load_types(metadata, tokens.size()));
  Vocabulary out;
  out.types_ = std::move(types);
  out.texts_.reserve(tokens.size(), total);
  out.bytes_.reserve(tokens.size(), total);
  for (size_t i = 0; i < tokens.size(); ++i) {
    out.texts_.open()->append(view(tokens[i]));
    out.texts_.close();
    out.add_bytes(out.types_[i], view(tokens[i]));
  }
  out.index_texts();
  return out;
}

void Vocabulary::add_bytes(TokenType type, std::string_view text) {
  std::string* bytes = bytes_.open();
  const bool verbatim =
      type == TokenType::unknown || type == TokenType::control || type == TokenType::user_defined;
  if (type != TokenType::unused && (verbatim || !hub::append_spelled(text, bytes))) bytes->append(text);
  bytes_.close();
}

void Vocabulary::index_texts() {
  seed_ = random_seed();
  slots_.assign(table_slots(types_.size()), kNoToken);
  const size_t mask = slots_.size() - 1;
  for (int32_t id = 0; id < size(); ++id) {
    size_t slot = hash_bytes(text(id), seed_) & mask;
    while (slots_[slot] != kNoToken && text(slots_[slot]) != text(id)) slot = (slot + 1) & mask;
    if (slots_[slot] == kNoToken) slots_[slot] = id;
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    std::string spelling;
    hub::append_spelling(std::string_view(&one, 1), &spelling);
    byte_tokens_[byte] = find(spelling);
  }
}

int32_t Vocabulary::find(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash_bytes(text, seed_) & mask; slots_[slot] != kNoToken; slot = (slot + 1) & mask)
    if (this->text(slots_[slot]) == text) return slots_[slot];
  return kNoToken;
}

}  // namespace mortise::bpe
