// Writing for people.
// Thread rule: one thread. Flow: see screen.h.
#include "screen.h"

#include <unistd.h>

#include <cstdlib>

namespace mortise::stdio {
namespace {

constexpr std::string_view kDim = "\033[2m", kRed = "\033[31m", kPlain = "\033[0m";

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c0 = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    const bool c1 = c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) ++i;
    if (!c0 && !c1) out += text[i];
  }
  return out;
}

Screen::Screen(int out, std::function<void(const std::string&)> log)
    : out_(out),
      terminal_(isatty(out) == 1),
      colours_(terminal_ && std::getenv("NO_COLOR") == nullptr),
      log_(std::move(log)) {}

Result<void> Screen::answer(std::string_view text) {
  if (text.empty()) return {};
  line_open_ = text.back() != '\n';
  return client::write_all(out_, terminal_ ? printable(text) : std::string(text));
}

Result<void> Screen::reasoning(std::string_view text) {
  if (!terminal_ || text.empty()) return {};
  line_open_ = text.back() != '\n';
  return styled(kDim, printable(text));
}

Result<void> Screen::end_line() {
  if (!line_open_) return {};
  line_open_ = false;
  return client::write_all(out_, "\n");
}

Result<void> Screen::line(std::string_view text) { return client::write_all(out_, std::string(text) + "\n"); }

Result<void> Screen::notice(const std::string& text) {
  if (terminal_) return styled(kDim, printable(text) + "\n");
  log_(text);
  return {};
}

Result<void> Screen::problem(const std::string& text) {
  if (terminal_) return styled(kRed, printable(text) + "\n");
  log_(text);
  return {};
}

Result<void> Screen::styled(std::string_view style, std::string_view text) {
  if (!colours_) return client::write_all(out_, text);
  // The style ends before the line does, else some terminals colour the rest of the next one.
  const bool newline = !text.empty() && text.back() == '\n';
  if (newline) text.remove_suffix(1);
  std::string out(style);
  out.append(text).append(kPlain);
  if (newline) out += '\n';
  return client::write_all(out_, out);
}

}  // namespace mortise::stdio
