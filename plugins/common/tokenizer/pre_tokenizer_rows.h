// The pre-tokenizers that a GGUF names, as rows: what a name means, and what has a name.
// Thread rule: constants. Flow: tokenizers look a file's name up, conversions go both ways.
#pragma once
#include <span>
#include <string_view>

namespace mortise::hub {

/// A row of pre_tokenizers.inc.
struct PreTokenizerRow {
  std::string_view names;  ///< values of tokenizer.ggml.pre, separated by blanks, the usual one first
  bool nfc;
  bool ignore_merges;
  bool add_bos;
  std::string_view pattern;

  std::string_view name() const { return names.substr(0, names.find(' ')); }
};

std::span<const PreTokenizerRow> pre_tokenizer_rows();
/// Null for an unknown name.
const PreTokenizerRow* find_pre_tokenizer_row(std::string_view name);

}  // namespace mortise::hub
