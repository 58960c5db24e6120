// Finds special and user-defined tokens in text: the leftmost, of those the longest.
// Thread rule: immutable after load, any thread. Flow: first step of encoding; what lies between is ordinary
// text.
#pragma once
#include <array>
#include <vector>

#include "vocabulary.h"

namespace mortise::bpe {

constexpr size_t kMaxSpecialBytes = 512;  // of one such token's text; docs/limits.md

class SpecialTokens {
 public:
  static Result<SpecialTokens> load(const Vocabulary& vocabulary);

  struct Match {
    size_t begin = 0;
    size_t size = 0;
    int32_t id = kNoToken;
  };

  /// The first match in `text` at or behind `from`; id kNoToken where there is none. `trusted_end(i)` is the
  /// end of the trusted stretch that position i lies in, or i where it lies in none: control and unknown
  /// tokens must end by it, user-defined ones match anywhere.
  template <class TrustedEnd>
  Match find(std::string_view text, size_t from, TrustedEnd&& trusted_end) const {
    for (size_t at = from; at < text.size(); ++at) {
      const Range start = starts_[static_cast<uint8_t>(text[at])];
      if (start.begin == start.end) continue;
      const Match match = longest_at(text, at, start, trusted_end(at));
      if (match.id != kNoToken) return match;
    }
    return Match();
  }

 private:
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  struct Entry {
    std::string text;
    int32_t id;
    bool anywhere;  // user-defined
  };

  Match longest_at(std::string_view text, size_t at, Range range, size_t trusted_end) const;

  std::vector<Entry> entries_;       // sorted by text
  std::array<Range, 256> starts_{};  // the entries that begin with a byte
};

}  // namespace mortise::bpe
