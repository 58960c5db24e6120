// Base64 as tiktoken and tekken files have it. Thread rule: pure functions. Flow: load time.
#pragma once
#include <string>
#include <string_view>

namespace mortise::bpe {

constexpr size_t kOneTokenBytesMax = 4096;  // of one token of a rank file; docs/limits.md

/// Replaces `out` by the bytes; false where the text is no base64 with its padding.
inline bool read_base64(std::string_view text, std::string* out) {
  const auto value = [](char c) -> int {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
  };
  out->clear();
  if (text.empty() || text.size() % 4 != 0) return false;
  const size_t padding = text.back() != '=' ? 0 : text[text.size() - 2] == '=' ? 2 : 1;
  unsigned bits = 0, count = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const int six = value(c);
    if (six < 0) return false;
    bits = bits << 6 | static_cast<unsigned>(six);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    *out += static_cast<char>(bits >> count & 0xFF);
  }
  return (bits & ((1u << count) - 1)) == 0;
}

}  // namespace mortise::bpe
