// The rows. Thread rule and flow: see pre_tokenizer_rows.h.
#include "tokenizer/pre_tokenizer_rows.h"

#include <algorithm>

namespace mortise::hub {
namespace {

constexpr PreTokenizerRow kRows[] = {
#define X(names, nfc, ignore_merges, add_bos, pattern) {names, nfc, ignore_merges, add_bos, pattern},
#include "tokenizer/pre_tokenizers.inc"
#undef X
};

bool has_name(std::string_view names, std::string_view name) {
  while (true) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    if (end == names.size()) return false;
    names.remove_prefix(end + 1);
  }
}

}  // namespace

std::span<const PreTokenizerRow> pre_tokenizer_rows() { return kRows; }

const PreTokenizerRow* find_pre_tokenizer_row(std::string_view name) {
  for (const PreTokenizerRow& row : kRows)
    if (!name.empty() && has_name(row.names, name)) return &row;
  return nullptr;
}

}  // namespace mortise::hub
