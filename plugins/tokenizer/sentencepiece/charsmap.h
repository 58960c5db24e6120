// precompiled_charsmap: SentencePiece's table of what replaces what before a text is taken apart.
// Thread rule: immutable after load, any thread. Flow: Model -> Charsmap -> Normalizer.
//
// Layout: u32 size of the trie in bytes, the trie, then replacements that end with a NUL byte. The trie is a
// double array of u32 units as Darts-clone (Yata) writes it: bits 0-7 the label, bit 8 "a value hangs here",
// bit 9 "the offset counts by 256", bits 10-30 the offset; with bit 31 set the rest is a value, here the
// place of a replacement.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace mortise::sentencepiece {

constexpr size_t kMaxCharsmapBytes = size_t{1} << 24;  // 16 MiB; docs/limits.md
constexpr size_t kMaxReplacementBytes = 512;           // what one rule puts in; docs/limits.md

class Charsmap {
 public:
  /// An empty table, which replaces nothing.
  Charsmap() = default;
  /// Takes the table apart and checks every unit, so that no walk leaves it. `where` stands in errors, whose
  /// offset counts from the table's start.
  static Result<Charsmap> load(std::string_view bytes, const std::string& where);

  struct Match {
    size_t size = 0;  // bytes of the text; 0: no rule
    std::string_view replacement;
  };
  /// The longest rule that begins the text.
  Match find(std::string_view text) const {
    Match best;
    if (units_.empty()) return best;
    size_t at = offset_of(units_[0]);
    for (size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      at ^= byte;
      const uint32_t unit = units_[at];
      if ((unit & kLabelMask) != byte) break;
      at ^= offset_of(unit);
      if ((unit & kHasValue) == 0) continue;
      best.size = i + 1;
      best.replacement = replacement_at(units_[at] & ~kIsValue);
    }
    return best;
  }

  /// True where some rule begins with a byte.
  bool begins(char byte) const {
    return !units_.empty() && (units_[child_of(byte)] & kLabelMask) == static_cast<uint8_t>(byte);
  }
  /// True where each rule that begins with a byte goes on with one above 0x7F.
  bool begins_only_before_other(char byte) const;

 private:
  static constexpr uint32_t kHasValue = 1u << 8, kWideOffset = 1u << 9, kIsValue = 1u << 31;
  static constexpr uint32_t kLabelMask = kIsValue | 0xFF;

  static size_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & kWideOffset) >> 6); }
  size_t child_of(char byte) const { return offset_of(units_[0]) ^ static_cast<uint8_t>(byte); }
  std::string_view replacement_at(uint32_t place) const { return replacements_.c_str() + place; }

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace mortise::sentencepiece
