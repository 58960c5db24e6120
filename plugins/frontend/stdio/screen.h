// What a person, or a pipe, gets to see.
// Thread rule: one thread. Flow: answers and notices of the modes text and chat end here.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "client/streams.h"

namespace mortise::stdio {

class Screen {
 public:
  /// Notices go to `out` where that is a terminal, else to `log`, so that a pipe carries answers only.
  Screen(int out, std::function<void(const std::string&)> log);

  bool terminal() const { return terminal_; }
  /// Text of the model, UTF-8. On a terminal control characters are left out: a model must not move the
  /// cursor.
  Result<void> answer(std::string_view text);
  /// The model's reasoning: dimmed on a terminal, nothing elsewhere.
  Result<void> reasoning(std::string_view text);
  /// Ends the answer's last line if it is open.
  Result<void> end_line();
  /// A result that was asked for, as it stands, with its line's end.
  Result<void> line(std::string_view text);
  /// Something the person should know.
  Result<void> notice(const std::string& text);
  Result<void> problem(const std::string& text);

 private:
  Result<void> styled(std::string_view style, std::string_view text);

  const int out_;
  const bool terminal_;
  const bool colours_;
  const std::function<void(const std::string&)> log_;
  bool line_open_ = false;
};

/// Without C0 (but \n and \t), DEL and C1 characters.
std::string printable(std::string_view text);

}  // namespace mortise::stdio
