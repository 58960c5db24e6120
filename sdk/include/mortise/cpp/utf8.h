// UTF-8: checking, repair, and a streaming decoder that hands out whole characters only.
// Thread rule: functions are pure, a Utf8Stream serves one thread at a time. Flow: a tokenizer's bytes become
// text here, for every tokenizer alike; parsers check outside text with it.
//
// Repair follows chapter 3 of the Unicode standard ("maximal subparts"): each longest prefix of a well-formed
// sequence that can't be completed, and each byte that can't begin one, becomes one U+FFFD. Python's
// errors="replace" does the same. Bytes that tokens of one byte each stand for (byte fallback) are replaced
// one by one, as the tokenizers that have such tokens do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  constexpr std::string_view kUtf8Replacement = "\xEF\xBF\xBD";  // U+FFFD

  enum class Utf8Kind : uint8_t {
    valid,    // one well-formed character
    invalid,  // one maximal subpart: stands for one U+FFFD
    cut       // the text ends within a sequence that is well-formed so far
  };

  struct Utf8Unit {
    size_t size;  // bytes, 1 to 4
    Utf8Kind kind;
  };

  /// The first character of a text that isn't empty (table 3-7 of the Unicode standard).
  inline Utf8Unit utf8_unit(std::string_view text) {
    const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const uint8_t lead = at(0);
    if (lead < 0x80) return {1, Utf8Kind::valid};
    if (lead < 0xC2 || lead > 0xF4) return {1, Utf8Kind::invalid};
    const size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    // The second byte is narrower after these leads: no overlong forms, no surrogates, nothing above
    // U+10FFFF.
    const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    for (size_t i = 1; i < size; ++i) {
      if (i == text.size()) return {i, Utf8Kind::cut};
      const bool good = i == 1 ? at(i) >= low && at(i) <= high : at(i) >= 0x80 && at(i) <= 0xBF;
      if (!good) return {i, Utf8Kind::invalid};
    }
    return {size, Utf8Kind::valid};
  }

  /// How many bytes from the start on are ASCII.
  inline size_t ascii_prefix(std::string_view text) {
    size_t i = 0;
    for (uint64_t word; i + sizeof(word) <= text.size(); i += sizeof(word)) {
      std::memcpy(&word, text.data() + i, sizeof(word));
      if ((word & 0x8080808080808080u) != 0) break;
    }
    while (i < text.size() && static_cast<uint8_t>(text[i]) < 0x80) ++i;
    return i;
  }

  /// The length of the longest prefix that is well-formed UTF-8; text.size() where all of it is.
  inline size_t valid_utf8_prefix(std::string_view text) {
    size_t i = 0;
    while (true) {
      i += ascii_prefix(text.substr(i));
      if (i == text.size()) return i;
      const Utf8Unit unit = utf8_unit(text.substr(i));
      if (unit.kind != Utf8Kind::valid) return i;
      i += unit.size;
    }
  }

  inline bool valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

  /// Bytes in pieces of any size become text: feed() returns what is certain and keeps the start of an
  /// incomplete character back. The results joined are the same however the bytes are cut into pieces.
  class Utf8Stream {
   public:
    /// Well-formed UTF-8, with U+FFFD for what can't become valid any more; one for each byte where
    /// `is_byte`, of a token that stands for a single byte.
    std::string feed(std::string_view bytes, bool is_byte = false) {
      std::string joined;
      size_t held = held_size_;
      if (held_size_ != 0) {
        joined.assign(held_, held_size_).append(bytes);
        bytes = joined;
        held_size_ = 0;
      }
      std::string out;
      out.reserve(bytes.size());
      while (!bytes.empty()) {
        const size_t good = valid_utf8_prefix(bytes);
        out.append(bytes.substr(0, good));
        bytes.remove_prefix(good);
        held -= good < held ? good : held;
        if (bytes.empty()) break;
        const Utf8Unit unit = utf8_unit(bytes);
        // What was held back keeps its own kind.
        const bool one_by_one = held > 0 ? held_is_byte_ : is_byte;
        if (unit.kind == Utf8Kind::cut) {
          held_is_byte_ = one_by_one;
          held_size_ = bytes.copy(held_, sizeof(held_));
          break;
        }
        replace(one_by_one ? unit.size : 1, &out);
        bytes.remove_prefix(unit.size);
        held -= unit.size < held ? unit.size : held;
      }
      return out;
    }

    /// The end of the text: U+FFFD where a character was left incomplete. The stream is then as new.
    std::string finish() {
      std::string out;
      if (held_size_ != 0) replace(held_is_byte_ ? held_size_ : 1, &out);
      held_size_ = 0;
      return out;
    }

    /// Bytes that feed() keeps back, 0 to 3.
    size_t held() const { return held_size_; }

   private:
    static void replace(size_t count, std::string* out) {
      for (; count > 0; --count) out->append(kUtf8Replacement);
    }

    char held_[3] = {};
    size_t held_size_ = 0;
    bool held_is_byte_ = false;  // of bytes by themselves
  };

  /// The text with U+FFFD for every part that isn't UTF-8.
  inline std::string replace_invalid(std::string_view text) {
    Utf8Stream stream;
    std::string out = stream.feed(text);
    return out.append(stream.finish());
  }

}  // namespace )
}  // namespace mortise
