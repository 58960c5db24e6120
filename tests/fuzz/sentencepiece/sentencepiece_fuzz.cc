// libFuzzer target: a tokenizer.model and a text. Thread rule: one thread. Flow: read_model_file,
// Tokenizer::load and encode.
//
// Input: a byte with the text's size, the text, then the file. In the text 0x01 begins a trusted span and
// 0x02 one that isn't; control pieces are found in trusted ones, as in a GGUF, where the text has such a
// byte.
#include <algorithm>
#include <cassert>
#include <string>

#include "tokenizer.h"

using namespace mortise;
using namespace mortise::sentencepiece;

namespace {

std::vector<Span> spans_of(std::string_view text) {
  std::vector<Span> out;
  bool trusted = true;
  while (true) {
    const size_t end = std::min(text.find_first_of("\x01\x02"), text.size());
    out.push_back({text.substr(0, end), trusted});
    if (end == text.size()) return out;
    trusted = text[end] == '\x01';
    text.remove_prefix(end + 1);
  }
}

std::vector<int32_t> must_encode(const Tokenizer& tokenizer, const std::vector<Span>& spans) {
  std::vector<int32_t> ids;
  const Result<void> done = tokenizer.encode(spans, false, &ids);
  assert(done);
  for (const int32_t id : ids) assert(id >= 0 && id < tokenizer.pieces().size());
  return ids;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view text = rest.substr(0, data[0]);
  rest.remove_prefix(text.size());
  auto model = read_model_file(rest, "fuzz");
  if (!model) {
    assert(!model.error().message.empty() && model.error().message.find('\n') == std::string::npos);
    return 0;
  }
  const std::vector<Span> spans = spans_of(text);
  for (size_t id = 0; spans.size() > 1 && id < model->pieces.size(); ++id)
    if (model->pieces[id].type == PieceType::control)
      model->specials.push_back({model->pieces[id].text, static_cast<int32_t>(id), false});
  const auto loaded = Tokenizer::load(std::move(*model), true);
  if (!loaded) return 0;
  const Tokenizer& tokenizer = **loaded;
  assert(must_encode(tokenizer, spans) == must_encode(tokenizer, spans));
  std::string joined;
  std::vector<Span> untrusted;
  for (const Span& span : spans) {
    joined += span.text;
    untrusted.push_back({span.text, false});
  }
  const std::vector<int32_t> plain = must_encode(tokenizer, untrusted);
  assert(plain == must_encode(tokenizer, {{joined, false}}));
  for (const int32_t id : plain) assert(tokenizer.pieces().type(id) != PieceType::control);
  return 0;
}
