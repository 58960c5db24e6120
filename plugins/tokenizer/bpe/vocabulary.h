// The tokens: their texts, types and bytes, and the way back from a text to an id.
// Thread rule: immutable after load, any thread. Flow: metadata -> Vocabulary -> merges, special tokens,
// pieces.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "metadata.h"

namespace mortise::bpe {

constexpr int32_t kNoToken = -1;

// Limits of what is loaded (docs/limits.md).
constexpr size_t kMaxTokens = size_t{1} << 21;           // 2,097,152
constexpr size_t kMaxVocabularyBytes = size_t{1} << 28;  // 256 MiB of token texts in all

/// As tokenizer.ggml.token_type numbers them.
enum class TokenType : uint8_t {
  undefined = 0,  // taken as normal
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,  // a hole in the vocabulary: no text, never produced
  byte = 6     // taken as normal: every token of a byte-level vocabulary stands for bytes
};

/// Many strings in one allocation.
class StringTable {
 public:
  void reserve(size_t count, size_t bytes) {
    ends_.reserve(count);
    data_.reserve(bytes);
  }
  std::string* open() { return &data_; }  // append one string, then close it
  void close() { ends_.push_back(static_cast<uint32_t>(data_.size())); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(data_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string data_;
  std::vector<uint32_t> ends_;
};

class Vocabulary {
 public:
  /// Reads tokenizer.ggml.tokens and tokenizer.ggml.token_type (absent: all normal) and keeps copies.
  static Result<Vocabulary> load(const Metadata& metadata);

  int32_t size() const { return static_cast<int32_t>(types_.size()); }
  TokenType type(int32_t id) const { return types_[static_cast<size_t>(id)]; }
  /// The text as the file spells it.
  std::string_view text(int32_t id) const { return texts_[static_cast<size_t>(id)]; }
  /// The bytes that the token stands for in decoded text. Special and user-defined tokens stand for their
  /// text as it is, unused ones for nothing; so does any token with a character outside the byte alphabet
  /// stand for its text.
  std::string_view bytes(int32_t id) const { return bytes_[static_cast<size_t>(id)]; }
  /// The id of a text as the file spells it, or kNoToken. Of equal texts the lowest id counts; the others
  /// decode only.
  int32_t find(std::string_view text) const;
  /// The token of a single byte, or kNoToken: vocabularies may lack bytes.
  int32_t byte_token(uint8_t byte) const { return byte_tokens_[byte]; }

 private:
  void add_bytes(TokenType type, std::string_view text);
  void index_texts();

  StringTable texts_;
  StringTable bytes_;
  std::vector<TokenType> types_;
  std::vector<int32_t> slots_;  // open addressing over texts_
  uint64_t seed_ = 0;
  std::array<int32_t, 256> byte_tokens_{};
};

}  // namespace mortise::bpe
