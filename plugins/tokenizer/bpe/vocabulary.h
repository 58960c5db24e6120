// The tokens' texts, and the way back from a text to an id.
// Thread rule: immutable after load, any thread. Flow: files -> Vocabulary -> merges, model, pieces.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "tokenizer/model.h"
#include "tokenizer/string_table.h"

namespace mortise::bpe {

using hub::kNoToken;

/// How texts stand for bytes.
enum class Spelling {
  alphabet,  ///< each byte is a character of the byte alphabet
  bytes,     ///< as they are
};

class Vocabulary {
 public:
  void reserve(size_t count, size_t bytes) { texts_.reserve(count, bytes); }
  /// The text of the next id; empty where the id stands for nothing.
  void push(std::string_view text) { texts_.push(text); }
  /// Ends the filling.
  void index(Spelling spelling);

  int32_t size() const { return static_cast<int32_t>(texts_.size()); }
  /// As the file spells it.
  std::string_view text(int32_t id) const { return texts_[static_cast<size_t>(id)]; }
  /// The id of a text as the file spells it, or kNoToken. Of equal texts the lowest id counts.
  int32_t find(std::string_view text) const;
  /// The token of a single byte, or kNoToken: vocabularies may lack bytes.
  int32_t byte_token(uint8_t byte) const { return byte_tokens_[byte]; }

 private:
  // Beside the id a part of the hash, so that most texts that differ are never looked at.
  struct Slot {
    int32_t id = kNoToken;
    uint32_t hash = 0;
  };

  hub::StringTable texts_;
  std::vector<Slot> slots_;  // open addressing
  uint64_t seed_ = 0;
  std::array<int32_t, 256> byte_tokens_{};
};

}  // namespace mortise::bpe
