// The rows of pre_tokenizers.inc, and words by a pattern. Thread rule: [load]. Flow: load time only.
#include "load.h"

namespace mortise::bpe {
namespace {

constexpr std::string_view kPreKey = "tokenizer.ggml.pre";

}  // namespace

Result<const PreTokenizerRow*> find_pre_tokenizer(const Metadata& metadata) {
  MORTISE_TRY(named, metadata.string(kPreKey));
  const std::string_view name = named.value_or("default");
  if (const PreTokenizerRow* row = hub::find_pre_tokenizer_row(name)) return row;
  std::string known;
  for (const PreTokenizerRow& row : hub::pre_tokenizer_rows())
    known.append(known.empty() ? "" : " ").append(row.names);
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
