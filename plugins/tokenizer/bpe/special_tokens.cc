// See special_tokens.h. Thread rule: immutable after load, any thread. Flow: load time and the start of
// encoding.
#include "special_tokens.h"

#include <algorithm>

namespace mortise::bpe {

Result<SpecialTokens> SpecialTokens::load(const Vocabulary& vocabulary) {
  SpecialTokens out;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const TokenType type = vocabulary.type(id);
    const bool anywhere = type == TokenType::user_defined;
    if (!anywhere && type != TokenType::control && type != TokenType::unknown) continue;
    const std::string_view text = vocabulary.text(id);
    if (text.empty()) continue;
    if (text.size() > kMaxSpecialBytes)
      return bad_key("tokenizer.ggml.tokens",
                     "entry " + std::to_string(id) + " is a special token of " + std::to_string(text.size()) +
                         " bytes; the limit is " + std::to_string(kMaxSpecialBytes),
                     Code::limit);
    out.entries_.push_back(Entry{std::string(text), id, anywhere});
  }
  std::stable_sort(out.entries_.begin(), out.entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.text < b.text; });
  for (uint32_t i = 0; i < out.entries_.size(); ++i) {
    Range& range = out.starts_[static_cast<uint8_t>(out.entries_[i].text[0])];
    if (range.begin == range.end) range.begin = i;
    range.end = i + 1;
  }
  return out;
}

// The entries that agree with the text up to some depth are a stretch of the sorted list, which each byte
// narrows; the one that ends at that depth stands first in it.
SpecialTokens::Match SpecialTokens::longest_at(std::string_view text, size_t at, Range range,
                                               size_t trusted_end) const {
  Match best;
  for (size_t depth = 1; range.begin < range.end; ++depth) {
    for (; range.begin < range.end && entries_[range.begin].text.size() == depth; ++range.begin) {
      const Entry& entry = entries_[range.begin];
      const bool taken = best.size == depth;  // of equal texts the first counts
      if (!taken && (entry.anywhere || at + depth <= trusted_end)) best = Match{at, depth, entry.id};
    }
    if (at + depth >= text.size()) break;
    const auto byte = static_cast<uint8_t>(text[at + depth]);
    const auto byte_of = [&](const Entry& entry) { return static_cast<uint8_t>(entry.text[depth]); };
    const auto first = entries_.begin() + range.begin, last = entries_.begin() + range.end;
    const auto low =
        std::partition_point(first, last, [&](const Entry& entry) { return byte_of(entry) < byte; });
    const auto high =
        std::partition_point(low, last, [&](const Entry& entry) { return byte_of(entry) <= byte; });
    range = {static_cast<uint32_t>(low - entries_.begin()), static_cast<uint32_t>(high - entries_.begin())};
  }
  return best;
}

}  // namespace mortise::bpe
