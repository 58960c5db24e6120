// SentencePiece: text to token ids and back.
// Thread rule: immutable after load; encode() and the rest on any number of threads at once.
// Flow: Model -> Tokenizer; spans -> special tokens -> normalized text -> BPE or unigram -> ids; ids ->
// bytes.
#pragma once
#include <memory>
#include <mutex>
#include <span>

#include "bpe.h"
#include "normalizer.h"
#include "pieces.h"
#include "special_tokens.h"
#include "tokenizer/added_tokens.h"
#include "unigram.h"

namespace mortise::sentencepiece {

constexpr size_t kMaxTextBytes = size_t{1} << 24;  // 16 MiB in one encode(); docs/limits.md

using hub::Span;

class Tokenizer {
 public:
  /// Builds the tables. `is_strict`: no two pieces have the same text.
  static Result<std::unique_ptr<Tokenizer>> load(Model model, bool is_strict);

  /// The ids of the spans as one text, appended to `ids`. `add_special`: BOS and EOS as the model asks,
  /// unless they stand there.
  Result<void> encode(std::span<const Span> spans, bool add_special, std::vector<int32_t>* ids) const;

  const Pieces& pieces() const { return pieces_; }
  /// What a piece stands for; `is_first`: it begins a text, where the dummy prefix is left out.
  std::string_view bytes(int32_t id, bool is_first) const;
  /// MORTISE_PIECE_CONTROL, MORTISE_PIECE_END, MORTISE_PIECE_UNUSED, MORTISE_PIECE_BYTE.
  uint32_t flags(int32_t id) const { return flags_[static_cast<size_t>(id)]; }
  int32_t bos() const { return model_.bos; }
  int32_t eos() const { return model_.eos; }
  bool add_bos() const { return model_.add_bos; }
  bool add_eos() const { return model_.add_eos; }

 private:
  struct Scratch {
    Bpe::Scratch bpe;
    Unigram::Scratch unigram;
    std::string normalized;
  };

  std::unique_ptr<Scratch> take_scratch() const;
  void give_back(std::unique_ptr<Scratch> scratch) const;
  Result<void> encode_all(std::span<const Span> spans, Scratch* scratch, std::vector<int32_t>* ids) const;
  Result<void> encode_text(std::string_view text, bool with_dummy, Scratch* scratch,
                           std::vector<int32_t>* ids) const;

  Model model_;  // without its pieces
  Pieces pieces_;
  Normalizer normalizer_;
  Trie user_defined_;  // found within text
  SpecialTokens special_tokens_;
  Bpe bpe_;
  Unigram unigram_;
  std::vector<uint32_t> flags_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>>
      idle_;  // at most one for each thread that ever encoded at once
};

}  // namespace mortise::sentencepiece
