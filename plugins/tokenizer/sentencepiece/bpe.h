// SentencePiece's BPE: of all neighbours whose joined text is a piece the best scored join, the leftmost of
// equals; again until there are none. Thread rule: immutable after load, any thread, each with a scratch of
// its own. Flow: normalized text -> words -> cache or merges -> ids.
#pragma once
#include <array>
#include <unordered_map>

#include "pieces.h"
#include "trie.h"
#include "word_cache.h"

namespace mortise::sentencepiece {

class Bpe {
 public:
  /// What an encoding thread needs for itself; kept for the next call.
  struct Join {
    uint32_t key = UINT32_MAX;  // smaller is better; UINT32_MAX: no join
    int32_t id = kNoPiece;
  };
  struct Scratch {
    WordCache cache;
    std::vector<int32_t> word;
    std::vector<int32_t> ids;
    std::vector<uint32_t> begins, next, previous;
    std::vector<Join> joins;
    std::vector<uint64_t> heap;
    std::unordered_map<std::string_view, uint32_t>
        halves;  // an unused piece's text -> bytes of its left part
  };

  Bpe() = default;
  /// `user_defined`: the pieces that are found before anything is joined.
  static Bpe load(const Pieces& pieces, const Trie& user_defined);

  void encode(std::string_view text, const Pieces& pieces, const Trie& user_defined, Scratch* scratch,
              std::vector<int32_t>* ids) const;

 private:
  void mark_joins(std::string_view text);
  void encode_word(std::string_view word, const Pieces& pieces, size_t first, Scratch* scratch,
                   std::vector<int32_t>* ids) const;
  void encode_whole(std::string_view text, const Pieces& pieces, const Trie& user_defined, size_t first,
                    Scratch* scratch, std::vector<int32_t>* ids) const;
  Join find(std::string_view text, size_t left, const Pieces& pieces, Scratch* scratch) const;
  void merge_short(std::string_view text, const Pieces& pieces, Scratch* scratch) const;
  void merge_long(std::string_view text, const Pieces& pieces, Scratch* scratch) const;

  std::vector<uint32_t> keys_;  // of each piece's score: smaller is better
  // Where no piece holds a byte before the blank's mark (behind it), nothing is joined across that border, so
  // the text falls into words there.
  std::array<bool, 256> joins_before_{}, joins_behind_{};
  std::array<bool, 256> stops_{};  // bytes at which encode looks closer
  bool is_whole_ = false;          // a join may make an unused piece, which is taken apart by the whole text
};

}  // namespace mortise::sentencepiece
