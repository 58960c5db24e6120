// Base64, the text form of byte strings in TOML and JSON (RFC 4648, section 4).
// Thread rule: pure function. Flow: used by the checks of values.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mortise {

/// The bytes that `text` stands for; nothing where it is not base64 with its padding.
inline std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  for (; padding < 2 && !text.empty() && text.back() == '='; ++padding) text.remove_suffix(1);
  std::string out;
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (i % 4 != 0) out += static_cast<char>(bits >> (6 - 2 * (i % 4)) & 0xFF);
  }
  return out;
}

}  // namespace mortise
