// The Viterbi pass over a text: of all ways to take it apart into texts of a trie the one whose scores sum to
// the most. Thread rule: one scratch, one thread. Flow: the inner loop of both unigram models.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "pieces.h"
#include "trie.h"

namespace mortise::sentencepiece {

/// Sum: what sums are rounded to (float in SentencePiece, double in the hub's tokenizers): with another one,
/// ways of equal worth would be told apart differently.
template <class Sum>
class Viterbi {
 public:
  /// `longest`: bytes of the longest text in the trie; `unknown`: the score of a character that is none.
  /// `score_of(node)` is a text's score. `take(part, id)` gets the best way's parts in order; id kNoPiece for
  /// such a character.
  template <class ScoreOf, class Take>
  void run(std::string_view text, const Trie& trie, size_t longest, Sum unknown, ScoreOf&& score_of,
           Take&& take) {
    const size_t reach = std::max(longest, sizeof("\U0010FFFF"));  // of one step, in bytes
    best_.assign(1 + reach, Best());
    size_t base = 0, reached = 0;  // best_ is set up to base + reached
    const auto offer = [&](size_t start, size_t end, int32_t id, Sum score) {
      while (reached < end - base) best_[++reached].start = kUnreached;
      Best& place = best_[end - base];
      const Sum sum = score + best_[start - base].score;
      if (place.start == kUnreached || sum > place.score)
        place = {sum, static_cast<uint32_t>(start - base), id};
    };
    for (size_t at = 0; at < text.size();) {
      if (at == base + reached && at != base) {  // no text crosses this place, so all ways agree before it
        emit(text.substr(base, at - base), take);
        best_[0].score = best_[reached].score;
        base = at;
        reached = 0;
      }
      if (best_.size() < at - base + reach + 1) best_.resize(2 * best_.size() + reach);
      const size_t size = character_size(text.substr(at));
      bool has_character = false;
      uint32_t node = Trie::kRoot;
      for (size_t i = at; i < text.size() && trie.step(&node, text[i]); ++i) {
        const Trie::Node& found = trie.node(node);
        if (found.value < 0) continue;
        offer(at, i + 1, found.value, score_of(found));
        has_character = has_character || i + 1 - at == size;
      }
      if (!has_character) offer(at, at + size, kNoPiece, unknown);
      at += size;
    }
    emit(text.substr(base), take);
  }

 private:
  // The best way to take apart the text before some place: its sum, and the last part on it.
  struct Best {
    Sum score = 0;
    uint32_t start = 0;  // where that part begins
    int32_t id = kNoPiece;
  };
  static constexpr uint32_t kUnreached = UINT32_MAX;

  template <class Take>
  void emit(std::string_view text, Take& take) {
    ends_.clear();
    for (auto end = static_cast<uint32_t>(text.size()); end > 0; end = best_[end].start) ends_.push_back(end);
    uint32_t begin = 0;
    for (size_t i = ends_.size(); i-- > 0; begin = ends_[i])
      take(text.substr(begin, ends_[i] - begin), best_[ends_[i]].id);
  }

  std::vector<Best> best_;  // best_[i]: the text before base + i
  std::vector<uint32_t> ends_;
};

}  // namespace mortise::sentencepiece
