// See charsmap.h. Thread rule: pure. Flow: load time.
#include "charsmap.h"

#include <mortise/cpp/reader.h>

#include <cstring>

namespace mortise::sentencepiece {

Result<Charsmap> Charsmap::load(std::string_view bytes, const std::string& where) {
  constexpr uint64_t kBlockBytes = 1024;  // 256 units: what an offset and a label can reach together
  Charsmap out;
  if (bytes.empty()) return out;
  Reader reader(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), where);
  const auto bad = [&](uint64_t offset, std::string message) {
    return reader.bad_at(offset, "precompiled_charsmap " + std::move(message) + "; the file is damaged");
  };
  if (bytes.size() > kMaxCharsmapBytes)
    return fail(Code::limit, where,
                "precompiled_charsmap has " + std::to_string(bytes.size()) + " bytes; the limit is " +
                    std::to_string(kMaxCharsmapBytes));
  MORTISE_TRY(size, reader.read<uint32_t>("precompiled_charsmap"));
  if (size == 0 || size % kBlockBytes != 0)
    return bad(0, "has a trie of " + std::to_string(size) + " bytes, not a multiple of 1024");
  MORTISE_TRY(trie, reader.take(size, "precompiled_charsmap's trie"));
  const uint64_t begin = reader.offset();
  MORTISE_TRY(texts, reader.take(reader.left(), "replacements"));
  if (texts.empty() || texts.back() != '\0') return bad(bytes.size(), "does not end with a NUL byte");
  for (size_t at = 0; at < texts.size();) {
    const size_t end = texts.find('\0', at);
    if (end - at > kMaxReplacementBytes)
      return bad(begin + at, "has a replacement of " + std::to_string(end - at) + " bytes; the limit is " +
                                 std::to_string(kMaxReplacementBytes));
    at = end + 1;
  }
  out.units_.resize(size / sizeof(uint32_t));
  std::memcpy(out.units_.data(), trie.data(), trie.size());
  const auto is_value = [&](size_t at) { return (out.units_[at] & kIsValue) != 0; };
  for (size_t i = 0; i < out.units_.size(); ++i) {
    const uint32_t unit = out.units_[i];
    const uint64_t offset = sizeof(uint32_t) * (i + 1);
    if (is_value(i)) {
      if ((unit & ~kIsValue) >= texts.size()) return bad(offset, "has a value behind its replacements");
      continue;
    }
    // A multiple of 256 units, so one child's place in range says that all are.
    const size_t child = i ^ offset_of(unit);
    if (child >= out.units_.size()) return bad(offset, "has a unit that points outside");
    if ((unit & kHasValue) != 0 && !is_value(child)) return bad(offset, "has a value that is none");
  }
  if (is_value(0)) return bad(sizeof(uint32_t), "has a value for a root");
  out.replacements_ = texts;
  return out;
}

bool Charsmap::begins_only_before_other(char byte) const {
  if (!begins(byte)) return true;
  const size_t at = child_of(byte);
  if ((units_[at] & kHasValue) != 0) return false;
  const size_t children = at ^ offset_of(units_[at]);
  for (uint32_t next = 0; next < 0x80; ++next)
    if ((units_[children ^ next] & kLabelMask) == next) return false;
  return true;
}

}  // namespace mortise::sentencepiece
