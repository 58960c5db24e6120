// See normalizer.h. Thread rule: any thread. Flow: the first step of encoding a text without special tokens.
#include "normalizer.h"

#include <mortise/cpp/utf8.h>

namespace mortise::sentencepiece {

Result<Normalizer> Normalizer::load(const Model& model, const Trie& untouched) {
  Normalizer out;
  MORTISE_TRY(charsmap, Charsmap::load(model.normalization.charsmap, model.where));
  out.charsmap_ = std::move(charsmap);
  out.rules_ = model.normalization;
  out.rules_.charsmap.clear();
  out.blank_ = out.rules_.escape_whitespaces ? kSpaceMark : std::string_view(" ");
  for (size_t i = 1; i < out.ascii_.size(); ++i) {
    const char byte = static_cast<char>(i);
    if (byte == ' ' || untouched.begins(byte)) continue;
    out.ascii_[i] = !out.charsmap_.begins(byte)                    ? Ascii::itself
                    : out.charsmap_.begins_only_before_other(byte) ? Ascii::itself_before_ascii
                                                                   : Ascii::by_rule;
  }
  return out;
}

// How many bytes from the start on stay as they are, by their being ASCII that no rule begins with.
size_t Normalizer::plain_prefix(std::string_view text) const {
  size_t i = 0;
  for (; i < text.size() && static_cast<uint8_t>(text[i]) < 128; ++i) {
    const Ascii kind = ascii_[static_cast<uint8_t>(text[i])];
    const bool before_ascii = i + 1 == text.size() || static_cast<uint8_t>(text[i + 1]) < 128;
    if (kind == Ascii::by_rule || (kind == Ascii::itself_before_ascii && !before_ascii)) break;
  }
  return i;
}

Normalizer::Part Normalizer::next(std::string_view text, const Trie& untouched) const {
  int32_t value = 0;
  if (const size_t size = untouched.longest(text, &value)) return {size, text.substr(0, size)};
  const Charsmap::Match match = charsmap_.find(text);
  if (match.size != 0) return {match.size, match.replacement};
  const Utf8Unit unit = utf8_unit(text);
  if (unit.kind == Utf8Kind::valid) return {unit.size, text.substr(0, unit.size)};
  return {1, kUtf8Replacement};
}

void Normalizer::append(std::string_view part, std::string* out) const {
  for (const char byte : part) {
    if (byte == ' ')
      out->append(blank_);
    else
      out->push_back(byte);
  }
}

Result<void> Normalizer::normalize(std::string_view text, bool with_dummy, const Trie& untouched,
                                   std::string* out) const {
  out->clear();
  const bool trim = rules_.remove_extra_whitespaces;
  while (trim && !text.empty()) {
    const Part part = next(text, untouched);
    if (part.replacement != " ") break;
    text.remove_prefix(part.size);
  }
  if (text.empty()) return {};
  const bool dummy = with_dummy && rules_.add_dummy_prefix;
  if (dummy && !rules_.whitespace_as_suffix) out->append(blank_);
  bool behind_blank = trim;
  while (!text.empty()) {
    if (const size_t plain = plain_prefix(text)) {
      out->append(text.substr(0, plain));
      behind_blank = false;
      text.remove_prefix(plain);
      continue;
    }
    Part part = next(text, untouched);
    while (behind_blank && !part.replacement.empty() && part.replacement[0] == ' ')
      part.replacement.remove_prefix(1);
    if (!part.replacement.empty()) {
      append(part.replacement, out);
      behind_blank = trim && part.replacement.back() == ' ';
    }
    text.remove_prefix(part.size);
    if (out->size() > kMaxNormalizedBytes)
      return fail(Code::limit, "text",
                  "is longer than " + std::to_string(kMaxNormalizedBytes) +
                      " bytes once normalized, the limit; encode it in parts");
  }
  while (trim && std::string_view(*out).ends_with(blank_)) out->resize(out->size() - blank_.size());
  if (dummy && rules_.whitespace_as_suffix) out->append(blank_);
  return {};
}

}  // namespace mortise::sentencepiece
