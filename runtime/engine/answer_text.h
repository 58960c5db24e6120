// The text of one answer: token bytes become whole characters, stop strings end it, and nothing that may
// still become part of a stop string is let out. Thread rule: the engine thread. Flow: every drawn token
// passes through here before it reaches a front end.
//
// Of several stop strings the match that begins earliest in the text wins. So a match is held back while an
// earlier beginning may still become one.
#pragma once
#include <mortise/cpp/utf8.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mortise {

class AnswerText {
 public:
  explicit AnswerText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// Adds a token's bytes (none for one that is not shown). True where the answer has ended by a stop string.
  bool add(std::string_view bytes, bool is_byte = false);
  /// The answer has ended for another reason: what was held back is text, or a stop string after all (then
  /// true).
  bool finish();

  /// Text that became certain since the last call, and how many tokens it completes, in order. After the end,
  /// tokens that begin behind the stop string are in neither.
  struct Part {
    std::string text;
    uint32_t tokens = 0;
  };
  Part take();
  /// Which stop string ended the answer, or -1.
  int32_t stop_index() const { return stop_index_; }

 private:
  struct Span {
    uint64_t begin, end;  // in the whole text
  };
  void place_tokens(size_t bytes);
  void search(bool at_end);

  std::vector<std::string> stops_;
  Utf8Stream utf8_;
  std::string held_;        // certain characters that are not let out
  uint64_t released_ = 0;   // bytes of text let out by take
  uint64_t certain_ = 0;    // bytes at the start of held_ that may be let out
  std::deque<Span> spans_;  // of tokens not let out; end UINT64_MAX: its last character is incomplete
  bool is_ended_ = false;
  int32_t stop_index_ = -1;
};

}  // namespace mortise
