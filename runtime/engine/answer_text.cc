// AnswerText: see answer_text.h.
#include "engine/answer_text.h"

#include <algorithm>

namespace mortise {
namespace {

constexpr uint64_t kOpen = UINT64_MAX;

/// Length of the longest proper prefix of `stop` that ends `text`.
size_t partial_match(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n)
    if (text.ends_with(stop.substr(0, n))) return n;
  return 0;
}

}  // namespace

bool AnswerText::add(std::string_view bytes, bool is_byte) {
  spans_.push_back({released_ + held_.size(), kOpen});
  held_ += utf8_.feed(bytes, is_byte);
  place_tokens(bytes.size());
  search(false);
  return is_ended_;
}

bool AnswerText::finish() {
  if (is_ended_) return stop_index_ >= 0;
  held_ += utf8_.finish();
  place_tokens(0);
  search(true);
  is_ended_ = true;
  return stop_index_ >= 0;
}

/// A token's text is complete once no byte of it waits for the rest of its character.
void AnswerText::place_tokens(size_t bytes) {
  const uint64_t end = released_ + held_.size();
  const size_t waiting = utf8_.held();
  for (size_t i = 0; i < spans_.size(); ++i) {
    const bool is_last = i + 1 == spans_.size();
    if (spans_[i].end == kOpen && (waiting == 0 || (!is_last && waiting <= bytes))) spans_[i].end = end;
  }
}

void AnswerText::search(bool at_end) {
  size_t match = std::string::npos, hold = held_.size();
  for (size_t i = 0; i < stops_.size(); ++i) {
    const size_t at = held_.find(stops_[i]);
    if (at < match) {
      match = at;
      stop_index_ = static_cast<int32_t>(i);
    }
    if (!at_end) hold = std::min(hold, held_.size() - partial_match(held_, stops_[i]));
  }
  if (match == std::string::npos || (match > hold && !at_end)) {
    // Where a match stands but an earlier beginning is open, the index is found again when that is decided.
    stop_index_ = -1;
    certain_ = hold;
    return;
  }
  held_.resize(match);
  certain_ = match;
  is_ended_ = true;
  const uint64_t end = released_ + match;
  while (!spans_.empty() && spans_.back().begin >= end) spans_.pop_back();
  for (Span& span : spans_) span.end = std::min(span.end, end);
}

AnswerText::Part AnswerText::take() {
  Part out;
  out.text = held_.substr(0, certain_);
  held_.erase(0, certain_);
  released_ += certain_;
  certain_ = 0;
  while (!spans_.empty() && spans_.front().end <= released_) {
    spans_.pop_front();
    ++out.tokens;
  }
  return out;
}

}  // namespace mortise
