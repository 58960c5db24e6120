// Byte-level BPE: text to token ids and back.
// Thread rule: immutable after load; encode() and the rest on any number of threads at once.
// Flow: metadata -> Tokenizer; spans -> special tokens -> NFC -> pieces -> merges -> ids; ids -> bytes.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "merges.h"
#include "pre_tokenizer.h"
#include "special_tokens.h"
#include "vocabulary.h"
#include "word_cache.h"

namespace mortise::bpe {

constexpr size_t kMaxTextBytes = size_t{1} << 24;  // 16 MiB in one encode(); docs/limits.md

/// A stretch of text; control tokens are found only where parse_special is set.
struct Span {
  std::string_view text;
  bool parse_special = false;
};

/// What the metadata says about single ids; kNoToken where it says nothing.
struct SpecialIds {
  int32_t bos = kNoToken;
  int32_t eos = kNoToken;
  int32_t end_of_turn = kNoToken;
  int32_t end_of_message = kNoToken;
  bool add_bos = false;
  bool add_eos = false;
};

/// An error, which says why, where the metadata holds no byte-level BPE.
Result<void> check_model(const Metadata& metadata);

class Tokenizer {
 public:
  /// Reads the tokenizer.ggml.* keys. Errors name the key, and the entry of an array.
  static Result<std::unique_ptr<Tokenizer>> load(const Metadata& metadata);

  /// The ids of the spans as one text, appended to `ids`: a control token lies wholly in spans with
  /// parse_special, a user-defined one is found anywhere. Bytes that the vocabulary lacks are left out. What
  /// isn't UTF-8 is encoded byte by byte, apart from its neighbours. `add_special`: BOS and EOS as the
  /// metadata asks, unless they stand there.
  Result<void> encode(std::span<const Span> spans, bool add_special, std::vector<int32_t>* ids) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const SpecialIds& special_ids() const { return special_ids_; }
  /// True for a token after which a generation is over.
  bool ends_generation(int32_t id) const {
    return id == special_ids_.eos || id == special_ids_.end_of_turn || id == special_ids_.end_of_message;
  }

 private:
  // What an encoding thread needs for itself; kept for the next call.
  struct Scratch {
    PieceMatch match;
    WordCache cache;
    MergeScratch merge;
    std::vector<uint32_t> ends;
    std::vector<int32_t> symbols;
    std::string spelling;
  };

  std::unique_ptr<Scratch> take_scratch() const;
  void give_back(std::unique_ptr<Scratch> scratch) const;
  Result<void> encode_all(std::span<const Span> spans, Scratch* scratch, std::vector<int32_t>* ids) const;
  Result<void> encode_text(std::string_view text, Scratch* scratch, std::vector<int32_t>* ids) const;
  Result<void> encode_valid(std::string_view text, Scratch* scratch, std::vector<int32_t>* ids) const;
  void encode_piece(std::string_view piece, Scratch* scratch, std::vector<int32_t>* ids) const;
  int32_t whole_piece(std::string_view piece, Scratch* scratch) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  SpecialTokens special_tokens_;
  PreTokenizer pre_tokenizer_;
  SpecialIds special_ids_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>>
      idle_;  // at most one for each thread that ever encoded at once
};

}  // namespace mortise::bpe
