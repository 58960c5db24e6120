// A text out of a file for an error message. Thread rule: pure. Flow: used by what reads tokenizer files.
#pragma once
#include <string>
#include <string_view>

namespace mortise::hub {

/// In quotes, cut to 64 bytes, with "?" for what isn't printable ASCII.
inline std::string quoted(std::string_view text) {
  constexpr size_t kShown = 64;
  std::string out = "\"";
  for (const char byte : text.substr(0, kShown)) out += byte >= ' ' && byte <= '~' ? byte : '?';
  return out + "\"";
}

}  // namespace mortise::hub
