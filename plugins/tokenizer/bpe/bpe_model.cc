// See bpe_model.h. Thread rule: any thread. Flow: encoding, the innermost step.
#include "bpe_model.h"

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/chars.h"
#include "word_cache.h"

namespace mortise::bpe {

struct BpeModel::Scratch final : hub::ModelScratch {
  WordCache cache;
  MergeScratch merge;
  std::vector<int32_t> symbols;
  std::string spelling;
};

BpeModel::BpeModel(Vocabulary vocabulary, MergeTable merges, BpeOptions options)
    : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), options_(std::move(options)) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (size_t byte = 0; byte < fallback_.size(); ++byte) {
    const char text[] = {'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'};
    fallback_[byte] = vocabulary_.find({text, sizeof(text)});
  }
  for (size_t byte = 0; byte < ascii_.size(); ++byte) {
    const char one = static_cast<char>(byte);
    ascii_[byte] = vocabulary_.find({&one, 1});
  }
}

void BpeModel::forbid_whole(int32_t id) {
  if (id >= size()) return;
  forbidden_.resize(static_cast<size_t>(size()));
  forbidden_[static_cast<size_t>(id)] = true;
}

bool BpeModel::takes_bytes() const {
  return !options_.byte_fallback && options_.prefix.empty() && options_.suffix.empty();
}

std::unique_ptr<hub::ModelScratch> BpeModel::make_scratch() const { return std::make_unique<Scratch>(); }

Result<void> BpeModel::encode(std::string_view word, bool bytes, hub::ModelScratch* scratch,
                              std::vector<int32_t>* ids) const {
  auto& own = static_cast<Scratch&>(*scratch);
  size_t count = 0;
  if (const int32_t* known = own.cache.find(word, &count)) {
    ids->insert(ids->end(), known, known + count);
    return {};
  }
  std::vector<int32_t>& symbols = own.symbols;
  symbols.clear();
  const int32_t whole = options_.whole_words ? whole_word(word, bytes, &own) : kNoToken;
  if (whole != kNoToken) {
    symbols.push_back(whole);
  } else {
    if (bytes)
      byte_symbols(word, &symbols);
    else
      char_symbols(word, &own);
    merges_.merge(&symbols, &own.merge);
  }
  ids->insert(ids->end(), symbols.begin(), symbols.end());
  own.cache.put(word, symbols);
  return {};
}

int32_t BpeModel::whole_word(std::string_view word, bool bytes, Scratch* scratch) const {
  if (bytes && options_.spelling == Spelling::alphabet) {
    scratch->spelling.clear();
    hub::append_spelling(word, &scratch->spelling);
    word = scratch->spelling;
  }
  const int32_t id = vocabulary_.find(word);
  const bool forbidden = id != kNoToken && !forbidden_.empty() && forbidden_[static_cast<size_t>(id)];
  return forbidden ? kNoToken : id;
}

// Bytes without a token vanish before the merges where there is no unknown token, so their neighbours may
// merge, as in the hub's tokenizers.
void BpeModel::byte_symbols(std::string_view word, std::vector<int32_t>* symbols) const {
  bool after_unknown = false;
  for (const char byte : word) {
    const int32_t id = vocabulary_.byte_token(static_cast<uint8_t>(byte));
    const bool unknown = id == kNoToken;
    if (!unknown)
      symbols->push_back(id);
    else if (options_.unknown != kNoToken && !(after_unknown && options_.fuse_unknown))
      symbols->push_back(options_.unknown);
    after_unknown = unknown;
  }
}

// An unknown token is put down when the next known character comes, as the hub's tokenizers do: byte tokens
// in between stand before it.
void BpeModel::char_symbols(std::string_view word, Scratch* scratch) const {
  std::vector<int32_t>& symbols = scratch->symbols;
  std::string& spelled = scratch->spelling;
  bool pending = false;
  const bool affixes = !options_.prefix.empty() || !options_.suffix.empty();
  for (size_t at = 0; at < word.size();) {
    const size_t begin = at;
    hub::next_char(word, &at);
    std::string_view text = word.substr(begin, at - begin);
    if (affixes) {
      spelled.assign(begin > 0 ? options_.prefix : "").append(text);
      if (at == word.size()) spelled.append(options_.suffix);
      text = spelled;
    }
    const bool ascii = text.size() == 1 && static_cast<uint8_t>(text[0]) < ascii_.size();
    const int32_t id = ascii ? ascii_[static_cast<uint8_t>(text[0])] : vocabulary_.find(text);
    if (id != kNoToken) {
      if (pending) symbols.push_back(options_.unknown);
      pending = false;
      symbols.push_back(id);
    } else if (!(options_.byte_fallback && append_byte_tokens(text, &symbols)) &&
               options_.unknown != kNoToken) {
      if (pending && !options_.fuse_unknown) symbols.push_back(options_.unknown);
      pending = true;
    }
  }
  if (pending) symbols.push_back(options_.unknown);
}

// All bytes of a character or none.
bool BpeModel::append_byte_tokens(std::string_view text, std::vector<int32_t>* symbols) const {
  for (const char byte : text)
    if (fallback_[static_cast<uint8_t>(byte)] == kNoToken) return false;
  for (const char byte : text) symbols->push_back(fallback_[static_cast<uint8_t>(byte)]);
  return true;
}

}  // namespace mortise::bpe
