// The rows of pre_tokenizers.inc, and words by a pattern. Thread rule: [load]. Flow: load time only.
#include <algorithm>

#include "load.h"

namespace mortise::bpe {
namespace {

constexpr std::string_view kPreKey = "tokenizer.ggml.pre";

constexpr PreTokenizerRow kRows[] = {
#define X(names, nfc, ignore_merges, add_bos, pattern) {names, nfc, ignore_merges, add_bos, pattern},
#include "pre_tokenizers.inc"
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

Result<const PreTokenizerRow*> find_pre_tokenizer(const Metadata& metadata) {
  MORTISE_TRY(named, metadata.string(kPreKey));
  const std::string_view name = named.value_or("default");
  std::string known;
  for (const PreTokenizerRow& row : kRows) {
    if (!name.empty() && has_name(row.names, name)) return &row;
    known.append(known.empty() ? "" : " ").append(row.names);
  }
  return bad_key(kPreKey, quoted(name) + " is not known; known are: " + known, Code::unsupported);
}

Result<hub::PreTokenizer> make_pre_tokenizer(std::string_view pattern) {
  MORTISE_TRY(compiled, hub::Pattern::regex(pattern, hub::PatternSyntax::rust));
  hub::PreTokenizer out;
  out.add(hub::make_split(std::move(compiled), hub::SplitBehavior::isolated, false));
  out.set_bytes();
  return out;
}

}  // namespace mortise::bpe
