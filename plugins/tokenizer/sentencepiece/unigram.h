// SentencePiece's unigram model: of all ways to take a text apart the one whose scores sum to the most.
// Thread rule: immutable after load, any thread, each with a scratch of its own. Flow: normalized text ->
// ids.
#pragma once
#include "pieces.h"
#include "trie.h"

namespace mortise::sentencepiece {

class Unigram {
 public:
  /// The best way to take apart the text before some place: its sum, and the last piece on it.
  struct Best {
    float score = 0;
    uint32_t start = 0;     // where the last piece begins
    int32_t id = kNoPiece;  // kNoPiece: a character without a piece
  };
  struct Scratch {
    std::vector<Best> best;
    std::vector<uint32_t> ends;
  };

  Unigram() = default;
  static Result<Unigram> load(const Model& model, const Pieces& pieces);

  void encode(std::string_view text, const Pieces& pieces, Scratch* scratch, std::vector<int32_t>* ids) const;

 private:
  void emit(std::string_view text, const Pieces& pieces, size_t first, Scratch* scratch,
            std::vector<int32_t>* ids) const;

  Trie trie_;
  float unknown_score_ = 0;
};

}  // namespace mortise::sentencepiece
