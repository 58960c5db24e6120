// Cuts text into the pieces within which merges happen.
// Thread rule: PreTokenizer is immutable, any thread; a PieceMatch serves one thread at a time.
// Flow: ordinary text between special tokens -> pieces -> merges.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metadata.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;

namespace mortise::bpe {

/// A row of pre_tokenizers.inc.
struct PreTokenizerRow {
  std::string_view names;
  bool nfc;
  bool ignore_merges;
  bool add_bos;
  std::string_view pattern;
};

/// The row that tokenizer.ggml.pre names; an unknown name is an error that lists the known ones. An absent
/// key means "default".
Result<const PreTokenizerRow*> find_pre_tokenizer(const Metadata& metadata);

struct PcreFree {
  void operator()(pcre2_real_code_8* code) const;
  void operator()(pcre2_real_match_data_8* match) const;
  void operator()(pcre2_real_match_context_8* context) const;
};
using PieceMatch = std::unique_ptr<pcre2_real_match_data_8, PcreFree>;

class PreTokenizer {
 public:
  static Result<PreTokenizer> compile(const PreTokenizerRow& row);

  const PreTokenizerRow& row() const { return *row_; }
  PieceMatch make_match() const;
  /// Appends the end of each piece of `text`, which must be valid UTF-8; the last is text.size().
  Result<void> split(std::string_view text, PieceMatch* match, std::vector<uint32_t>* ends) const;

 private:
  const PreTokenizerRow* row_ = nullptr;
  std::unique_ptr<pcre2_real_code_8, PcreFree> code_;
  std::unique_ptr<pcre2_real_match_context_8, PcreFree> context_;
};

}  // namespace mortise::bpe
