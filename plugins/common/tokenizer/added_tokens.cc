// See added_tokens.h. Thread rule: as there. Flow: load time and the start of encoding.
#include "tokenizer/added_tokens.h"

#include <mortise/cpp/utf8.h>

#include <algorithm>

#include "tokenizer/chars.h"

namespace mortise::hub {
namespace {

constexpr uint32_t kNoChar = UINT32_MAX;

// The character at a place, or before it; kNoChar at the text's ends and where there is no valid one.
uint32_t char_at(std::string_view text, size_t at) {
  if (at >= text.size() || utf8_unit(text.substr(at)).kind != Utf8Kind::valid) return kNoChar;
  return next_char(text, &at);
}

uint32_t char_ending_at(std::string_view text, size_t end) {
  if (end == 0) return kNoChar;
  const size_t begin = char_before(text, end);
  const bool whole = end - begin <= 4 && utf8_unit(text.substr(begin)).size == end - begin;
  return whole ? char_at(text, begin) : kNoChar;
}

bool in_word(uint32_t point) { return point != kNoChar && is_word_char(point); }
bool is_blank(uint32_t point) { return point != kNoChar && is_white_space(point); }

/// Asked with rising positions.
class Trust {
 public:
  explicit Trust(const TrustedRanges* ranges) : ranges_(ranges) {}
  bool holds(size_t begin, size_t end) {
    if (ranges_ == nullptr) return true;
    while (at_ < ranges_->size() && (*ranges_)[at_].end <= begin) ++at_;
    return at_ < ranges_->size() && (*ranges_)[at_].begin <= begin && end <= (*ranges_)[at_].end;
  }

 private:
  const TrustedRanges* ranges_;
  size_t at_ = 0;
};

}  // namespace

void TokenMatcher::build() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.text < b.text; });
  starts_ = {};
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    Stretch& range = starts_[static_cast<uint8_t>(entries_[i].text[0])];
    if (range.begin == range.end) range.begin = i;
    range.end = i + 1;
  }
}

TokenMatcher::Stretch TokenMatcher::narrowed(Stretch range, size_t depth, uint8_t byte) const {
  const auto byte_of = [&](const Entry& entry) { return static_cast<uint8_t>(entry.text[depth]); };
  const auto first = entries_.begin() + range.begin, last = entries_.begin() + range.end;
  const auto low =
      std::partition_point(first, last, [&](const Entry& entry) { return byte_of(entry) < byte; });
  const auto high =
      std::partition_point(low, last, [&](const Entry& entry) { return byte_of(entry) <= byte; });
  return {static_cast<uint32_t>(low - entries_.begin()), static_cast<uint32_t>(high - entries_.begin())};
}

TrustedRanges trusted_ranges(std::span<const Span> spans) {
  TrustedRanges out;
  size_t at = 0;
  for (const Span& span : spans) {
    const size_t end = at + span.text.size();
    if (span.parse_special && at != end) {
      if (!out.empty() && out.back().end == at)
        out.back().end = end;
      else
        out.push_back({at, end});
    }
    at = end;
  }
  return out;
}

void cut_by_tokens(std::string_view text, const TokenMatcher& matcher, const std::vector<AddedToken>& tokens,
                   const TrustedRanges* trusted, std::vector<Segment>* out) {
  Trust trust(trusted);
  size_t done = 0;
  const auto allowed = [&](uint32_t index, size_t begin, size_t end) {
    return !tokens[index].special || trust.holds(begin, end);
  };
  for (size_t from = 0; !matcher.empty();) {
    TokenMatcher::Match match = matcher.find(text, from, allowed);
    if (match.index == TokenMatcher::kNone) break;
    const AddedToken& token = tokens[match.index];
    from = match.end;
    if (token.single_word &&
        (in_word(char_ending_at(text, match.begin)) || in_word(char_at(text, match.end))))
      continue;
    while (token.left_strip && match.begin > done && is_blank(char_ending_at(text, match.begin)))
      match.begin = char_before(text, match.begin);
    // The next token may begin with blanks that this one takes, as in the hub's tokenizers.
    while (token.right_strip && is_blank(char_at(text, match.end))) next_char(text, &match.end);
    if (match.begin > done) out->push_back({done, match.begin, TokenMatcher::kNone});
    out->push_back({match.begin, match.end, match.index});
    done = match.end;
  }
  if (done < text.size()) out->push_back({done, text.size(), TokenMatcher::kNone});
}

}  // namespace mortise::hub
