// The alphabet of byte-level BPE: each byte written as one printable character, as GPT-2 defined it.
// Printable Latin-1 stands for itself, the other 68 bytes become U+0100 and up, in order (a blank is U+0120).
// Thread rule: constants and pure functions. Flow: token texts in files <-> bytes of text.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::hub {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr unsigned kAlphabetEnd = 0x100 + 68;  // one past the last code point

/// Byte -> code point.
constexpr std::array<uint16_t, 256> kByteToPoint = [] {
  std::array<uint16_t, 256> table{};
  uint16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    table[byte] = stands_for_itself(byte) ? static_cast<uint16_t>(byte) : next++;
  return table;
}();

/// Code point -> byte, or -1.
constexpr std::array<int16_t, kAlphabetEnd> kPointToByte = [] {
  std::array<int16_t, kAlphabetEnd> table{};
  for (auto& entry : table) entry = -1;
  for (unsigned byte = 0; byte < 256; ++byte) table[kByteToPoint[byte]] = static_cast<int16_t>(byte);
  return table;
}();

/// Appends the alphabet's spelling of some bytes (UTF-8).
inline void append_spelling(std::string_view bytes, std::string* out) {
  for (unsigned char byte : bytes) {
    const unsigned point = kByteToPoint[byte];
    if (point >= 0x80) {
      *out += static_cast<char>(0xC0 | point >> 6);
      *out += static_cast<char>(0x80 | (point & 0x3F));
    } else {
      *out += static_cast<char>(point);
    }
  }
}

/// Appends the bytes that a token's text spells. False, with `out` as it was, where any character lies
/// outside the alphabet.
inline bool append_spelled(std::string_view text, std::string* out) {
  const size_t before = out->size();
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned point = static_cast<unsigned char>(text[i]);
    if (point >= 0x80) {  // the alphabet's other characters are two bytes long
      const unsigned low = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
      point = (low & 0xC0) == 0x80 && point >= 0xC2 && point < 0xE0 ? (point & 0x1F) << 6 | (low & 0x3F)
                                                                    : kAlphabetEnd;
      ++i;
    }
    if (point >= kAlphabetEnd || kPointToByte[point] < 0) {
      out->resize(before);
      return false;
    }
    *out += static_cast<char>(kPointToByte[point]);
  }
  return true;
}

}  // namespace mortise::hub
