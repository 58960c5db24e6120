// What SentencePiece does to a text before it takes it apart: rules of the charsmap, blanks, the dummy
// prefix. Thread rule: immutable after load, any thread. Flow: text -> Normalizer -> BPE or unigram.
#pragma once
#include <array>

#include "charsmap.h"
#include "sentencepiece/model.h"
#include "trie.h"

namespace mortise::sentencepiece {

constexpr size_t kMaxNormalizedBytes = size_t{1} << 26;  // 64 MiB of one text; docs/limits.md

class Normalizer {
 public:
  Normalizer() = default;
  /// `untouched`: texts that are taken as they are.
  static Result<Normalizer> load(const Model& model, const Trie& untouched);

  /// Replaces *out by the normalized text. `with_dummy`: the dummy prefix (or suffix), where the model has
  /// one. Texts in `untouched` are taken as they are. Every byte that is no UTF-8 becomes U+FFFD.
  Result<void> normalize(std::string_view text, bool with_dummy, const Trie& untouched,
                         std::string* out) const;
  const Normalization& rules() const { return rules_; }

 private:
  struct Part {
    size_t size;  // bytes of the text
    std::string_view replacement;
  };
  // How much of the rules a character of ASCII needs.
  enum class Ascii : uint8_t { by_rule, itself_before_ascii, itself };
  size_t plain_prefix(std::string_view text) const;
  Part next(std::string_view text, const Trie& untouched) const;
  void append(std::string_view part, std::string* out) const;

  Charsmap charsmap_;
  Normalization rules_;
  std::array<Ascii, 128> ascii_{};
  std::string_view blank_ = kSpaceMark;
};

}  // namespace mortise::sentencepiece
