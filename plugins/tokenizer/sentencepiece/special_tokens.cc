// See special_tokens.h. Thread rule: immutable after load, any thread. Flow: load time and the start of
// encoding.
#include "special_tokens.h"

#include <algorithm>

namespace mortise::sentencepiece {

Result<SpecialTokens> SpecialTokens::load(const std::vector<SpecialText>& specials) {
  SpecialTokens out;
  std::vector<Trie::Entry> texts;
  for (const SpecialText& special : specials) {
    if (special.text.empty()) continue;
    out.begins_[static_cast<uint8_t>(special.text[0])] = true;
    texts.push_back({special.text, static_cast<int32_t>(out.entries_.size()), 0});
    out.entries_.push_back({special.id, special.anywhere, special.right_strip});
  }
  MORTISE_TRY(trie, Trie::build(std::move(texts)));
  out.trie_ = std::move(trie);
  return out;
}

SpecialTokens::Match SpecialTokens::longest_at(std::string_view text, size_t at, size_t trusted_end) const {
  Match best;
  bool right_strip = false;
  uint32_t node = Trie::kRoot;
  for (size_t i = at; i < text.size() && trie_.step(&node, text[i]); ++i) {
    const int32_t value = trie_.node(node).value;
    if (value < 0) continue;
    const Entry& entry = entries_[static_cast<size_t>(value)];
    if (!entry.anywhere && i >= trusted_end) continue;
    best = {at, i + 1 - at, entry.id};
    right_strip = entry.right_strip;
  }
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  if (right_strip) best.size = std::min(text.find_first_not_of(kBlanks, at + best.size), text.size()) - at;
  return best;
}

}  // namespace mortise::sentencepiece
