// Characters of valid UTF-8 and the classes that tokenizers cut text by.
// Thread rule: pure functions. Flow: used by normalizers, pre-tokenizers and the added-token matcher.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::hub {

/// The character at `*at`, which must be inside valid UTF-8; `*at` moves behind it.
inline uint32_t next_char(std::string_view text, size_t* at) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[*at + i])); };
  const uint32_t lead = byte(0);
  uint32_t point = lead;
  size_t size = 1;
  if (lead >= 0xF0) {
    point = (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    size = 4;
  } else if (lead >= 0xE0) {
    point = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    size = 3;
  } else if (lead >= 0x80) {
    point = (lead & 0x1F) << 6 | (byte(1) & 0x3F);
    size = 2;
  }
  *at += size;
  return point;
}

inline bool continues_char(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

/// Where the character that ends at `end` begins; `end` is not 0.
inline size_t char_before(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && continues_char(text[end]));
  return end;
}

void append_char(uint32_t point, std::string* out);

bool is_white_space(uint32_t point);      ///< the property White_Space
bool is_number(uint32_t point);           ///< Nd, Nl, No
bool is_punctuation(uint32_t point);      ///< P, and the ASCII signs that C's ispunct knows
bool is_mark(uint32_t point);             ///< M
bool is_nonspacing_mark(uint32_t point);  ///< Mn
bool is_other(uint32_t point);            ///< Cc, Cf, Cn, Co
bool is_word_char(uint32_t point);        ///< \w as UTS 18 defines it
uint32_t to_lower(uint32_t point);        ///< the simple mapping

}  // namespace mortise::hub
