// Added tokens in text: the leftmost, of those the longest, with their flags for blanks and words around.
// Thread rule: immutable after load, any thread. Flow: first step of encoding; what lies between is text.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/model.h"
#include "tokenizer/pattern.h"

namespace mortise::hub {

constexpr size_t kAddedBytesMax = 512;  // of one such token's text; docs/limits.md

struct AddedToken {
  std::string text;
  int32_t id = kNoToken;
  bool special = false;       // found in trusted text only; a control token
  bool normalized = false;    // found in normalized text, by its own normalized form
  bool left_strip = false;    // takes the blanks before it
  bool right_strip = false;   // takes the blanks behind it
  bool single_word = false;   // only where no word character adjoins
  bool only_decoded = false;  // never found in text
};

/// Finds one set of texts; each stands for an entry of a list that the caller keeps.
class TokenMatcher {
 public:
  /// `text` must not be empty. Of equal texts the first that is allowed counts.
  void add(std::string text, uint32_t index) { entries_.push_back({std::move(text), index}); }
  void build();
  bool empty() const { return entries_.empty(); }

  static constexpr uint32_t kNone = UINT32_MAX;
  struct Match {
    size_t begin = 0, end = 0;
    uint32_t index = kNone;
  };

  /// The first match at or behind `from` of which `allowed(index, begin, end)` is true.
  template <class Allowed>
  Match find(std::string_view text, size_t from, Allowed&& allowed) const {
    for (size_t at = from; at < text.size(); ++at) {
      const Stretch start = starts_[static_cast<uint8_t>(text[at])];
      if (start.begin == start.end) continue;
      Match best;
      each_at(text, at, start, [&](uint32_t index, size_t end) {
        if ((best.index == kNone || end > best.end) && allowed(index, at, end)) best = {at, end, index};
      });
      if (best.index != kNone) return best;
    }
    return Match();
  }

 private:
  struct Stretch {
    uint32_t begin = 0, end = 0;
  };
  struct Entry {
    std::string text;
    uint32_t index;
  };

  // The entries that agree with the text up to some depth are a stretch of the sorted list, which each byte
  // narrows; those that end at that depth stand first in it.
  template <class Visit>
  void each_at(std::string_view text, size_t at, Stretch range, Visit&& visit) const {
    for (size_t depth = 1; range.begin < range.end; ++depth) {
      for (; range.begin < range.end && entries_[range.begin].text.size() == depth; ++range.begin)
        visit(entries_[range.begin].index, at + depth);
      if (at + depth >= text.size()) break;
      range = narrowed(range, depth, static_cast<uint8_t>(text[at + depth]));
    }
  }
  Stretch narrowed(Stretch range, size_t depth, uint8_t byte) const;

  std::vector<Entry> entries_;         // sorted by text
  std::array<Stretch, 256> starts_{};  // the entries that begin with a byte
};

/// A stretch of text in which special tokens are recognised; sorted, not touching.
using TrustedRanges = std::vector<Range>;

/// A stretch of text; special tokens are found only where parse_special is set.
struct Span {
  std::string_view text;
  bool parse_special = false;
};

/// Those of a text that spans make up; neighbours are one.
TrustedRanges trusted_ranges(std::span<const Span> spans);

/// A piece of a text: an added token, or text between (index kNone).
struct Segment {
  size_t begin, end;
  uint32_t index;
};

/// Cuts valid or invalid UTF-8 by the tokens of `matcher`, whose indices lead into `tokens`. Blanks are what
/// White_Space says. `trusted`: nullptr where all of the text is trusted.
void cut_by_tokens(std::string_view text, const TokenMatcher& matcher, const std::vector<AddedToken>& tokens,
                   const TrustedRanges* trusted, std::vector<Segment>* out);

}  // namespace mortise::hub
