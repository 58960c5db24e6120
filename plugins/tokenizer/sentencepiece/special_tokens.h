// Finds special tokens in text before it is normalized: the leftmost, of those the longest.
// Thread rule: immutable after load, any thread. Flow: first step of encoding; what lies between is ordinary
// text.
#pragma once
#include <array>
#include <span>

#include "sentencepiece/model.h"
#include "trie.h"

namespace mortise::sentencepiece {

class SpecialTokens {
 public:
  SpecialTokens() = default;
  static Result<SpecialTokens> load(const std::vector<SpecialText>& specials);

  struct Match {
    size_t begin = 0;
    size_t size = 0;  // with the blanks that it takes
    int32_t id = kNoPiece;
  };

  /// The first match in `text` at or behind `from`; id kNoPiece where there is none. `trusted_end(i)` is the
  /// end of the trusted stretch that position i lies in, or i where it lies in none: a token that isn't found
  /// anywhere must end by it.
  template <class TrustedEnd>
  Match find(std::string_view text, size_t from, TrustedEnd&& trusted_end) const {
    for (size_t at = from; at < text.size(); ++at) {
      if (!begins_[static_cast<uint8_t>(text[at])]) continue;
      const Match match = longest_at(text, at, trusted_end(at));
      if (match.id != kNoPiece) return match;
    }
    return {};
  }

 private:
  Match longest_at(std::string_view text, size_t at, size_t trusted_end) const;

  struct Entry {
    int32_t id;
    bool anywhere;
    bool right_strip;
  };
  std::vector<Entry> entries_;
  Trie trie_;  // text -> index of an entry
  std::array<bool, 256> begins_{};
};

}  // namespace mortise::sentencepiece
