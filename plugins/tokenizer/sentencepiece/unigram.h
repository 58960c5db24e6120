// SentencePiece's unigram model: of all ways to take a text apart the one whose scores sum to the most.
// Thread rule: immutable after load, any thread, each with a scratch of its own. Flow: normalized text ->
// ids.
#pragma once
#include "pieces.h"
#include "trie.h"
#include "viterbi.h"

namespace mortise::sentencepiece {

class Unigram {
 public:
  using Scratch = Viterbi<float>;

  Unigram() = default;
  static Result<Unigram> load(const Model& model, const Pieces& pieces);

  void encode(std::string_view text, const Pieces& pieces, Scratch* scratch, std::vector<int32_t>* ids) const;

 private:
  Trie trie_;
  float unknown_score_ = 0;
};

/// By how much a character without a piece is worth less than the worst piece.
constexpr float kUnknownPenalty = 10;

}  // namespace mortise::sentencepiece
