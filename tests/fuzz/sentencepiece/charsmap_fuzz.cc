// libFuzzer target: a precompiled_charsmap and a text. Thread rule: one thread. Flow: Charsmap::load and
// find. Input: a byte with the text's size, the text, then the table.
#include <cassert>

#include "normalizer.h"

using namespace mortise;
using namespace mortise::sentencepiece;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view text = rest.substr(0, data[0]);
  rest.remove_prefix(text.size());
  const auto table = Charsmap::load(rest, "fuzz");
  if (!table) {
    assert(table.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (size_t at = 0; at < text.size(); ++at) {
    const Charsmap::Match match = table->find(text.substr(at));
    assert(match.size <= text.size() - at && match.replacement.size() <= kMaxReplacementBytes);
  }
  Model model;
  model.normalization.charsmap = rest;
  const Trie nothing;
  const auto normalizer = Normalizer::load(model, nothing);
  assert(normalizer);
  std::string out;
  assert(normalizer->normalize(text, true, nothing, &out));
  return 0;
}
