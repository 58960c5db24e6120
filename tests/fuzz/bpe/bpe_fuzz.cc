// libFuzzer target: a tokenizer's metadata and a text. Thread rule: one thread. Flow: load_gguf and encode.
//
// Input: lines, then a NUL byte, then the text. A line's first byte says what the rest is: `m` the model, `p`
// the pre-tokenizer, `B` the 256 byte tokens, a digit a token of that type, `+` a merge, `i` the value of an
// id ("bos 12"), `a` a flag that is set ("bos"), `-` a token type too many. In the text 0x01 begins a trusted
// span and 0x02 one that isn't.
#include <algorithm>
#include <cassert>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include <mortise/tokenizer.h>

#include "bpe_model.h"
#include "load.h"
#include "tokenizer/byte_alphabet.h"

using namespace mortise;
using namespace mortise::bpe;
using hub::Span;
using Tokenizer = hub::Pipeline;

namespace {

struct Input {
  std::map<std::string, mortise_str, std::less<>> texts;
  std::map<std::string, int64_t, std::less<>> integers;
  std::map<std::string, int64_t, std::less<>> flags;
  std::vector<std::string> byte_texts;
  std::vector<mortise_str> tokens, merges;
  std::vector<int64_t> types;
  std::vector<Span> spans;
};

void add_bytes(Input* input) {
  if (!input->byte_texts.empty()) return;
  for (int byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    hub::append_spelling(std::string_view(&one, 1), &input->byte_texts.emplace_back());
  }
  for (const std::string& text : input->byte_texts) {
    input->tokens.push_back(str(text));
    input->types.push_back(1);
  }
}

void add_line(std::string_view line, Input* input) {
  const char kind = line[0];
  const std::string_view rest = line.substr(1);
  if (kind == 'm') input->texts["tokenizer.ggml.model"] = str(rest);
  if (kind == 'p') input->texts["tokenizer.ggml.pre"] = str(rest);
  if (kind == 'B') add_bytes(input);
  if (kind == '+') input->merges.push_back(str(rest));
  if (kind == '-') input->types.push_back(1);
  if (kind == 'a') input->flags["tokenizer.ggml.add_" + std::string(rest) + "_token"] = 1;
  if (kind >= '0' && kind <= '9') {
    input->tokens.push_back(str(rest));
    input->types.push_back(kind - '0');
  }
  if (kind == 'i') {
    const size_t blank = std::min(rest.find(' '), rest.size());
    const std::string_view number = rest.substr(std::min(blank + 1, rest.size()));
    int64_t value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    input->integers["tokenizer.ggml." + std::string(rest.substr(0, blank)) + "_token_id"] = value;
  }
}

Input read_input(std::string_view data) {
  Input input;
  const size_t nul = std::min(data.find('\0'), data.size());
  std::string_view lines = data.substr(0, nul), text = data.substr(std::min(nul + 1, data.size()));
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    if (end > 0) add_line(lines.substr(0, end), &input);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  bool trusted = true;
  while (true) {
    const size_t end = std::min(text.find_first_of("\x01\x02"), text.size());
    input.spans.push_back({text.substr(0, end), trusted});
    if (end == text.size()) return input;
    trusted = text[end] == '\x01';
    text.remove_prefix(end + 1);
  }
}

std::optional<mortise_meta> get(const Input& input, std::string_view key) {
  if (key == "tokenizer.ggml.tokens")
    return mortise_meta{MORTISE_STRING, 1, input.tokens.size(), input.tokens.data()};
  if (key == "tokenizer.ggml.merges")
    return mortise_meta{MORTISE_STRING, 1, input.merges.size(), input.merges.data()};
  if (key == "tokenizer.ggml.token_type")
    return mortise_meta{MORTISE_INT, 1, input.types.size(), input.types.data()};
  if (const auto at = input.texts.find(key); at != input.texts.end())
    return mortise_meta{MORTISE_STRING, 0, 1, &at->second};
  if (const auto at = input.integers.find(key); at != input.integers.end())
    return mortise_meta{MORTISE_INT, 0, 1, &at->second};
  if (const auto at = input.flags.find(key); at != input.flags.end())
    return mortise_meta{MORTISE_BOOL, 0, 1, &at->second};
  return std::nullopt;
}

std::vector<int32_t> must_encode(const Tokenizer& tokenizer, const std::vector<Span>& spans,
                                 bool add_special) {
  std::vector<int32_t> ids;
  const Result<void> done = tokenizer.encode(spans, add_special, &ids);
  assert(done);
  for (const int32_t id : ids) assert(id >= 0 && id < tokenizer.count());
  return ids;
}

// Where every byte has its token and no merge makes a token that isn't plain text, decoding gives the text
// back, and no untrusted text becomes a control token.
void check_exact(const Input& input, const Tokenizer& tokenizer, const std::string& text) {
  const bool plain =
      std::all_of(input.types.begin(), input.types.end(), [](int64_t type) { return type == 1; });
  if (input.byte_texts.empty() || (!plain && !input.merges.empty())) return;
  const Vocabulary& vocabulary = static_cast<const BpeModel&>(tokenizer.model()).vocabulary();
  for (int32_t id = 0; id < 256; ++id)
    if (vocabulary.byte_token(static_cast<uint8_t>(id)) != id) return;  // `B` was not the first
  const auto pre = input.texts.find("tokenizer.ggml.pre");
  std::string decoded;
  for (const int32_t id : must_encode(tokenizer, input.spans, false)) decoded += tokenizer.bytes(id, false);
  assert((pre != input.texts.end() && view(pre->second) == "qwen2") || decoded == text);
  for (const int32_t id : must_encode(tokenizer, {{text, false}}, false))
    assert((tokenizer.flags(id) & MORTISE_PIECE_CONTROL) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Input input = read_input({reinterpret_cast<const char*>(data), size});
  const auto loaded = load_gguf(Metadata([&input](std::string_view key) { return get(input, key); }));
  if (!loaded) {
    assert(!loaded.error().where.empty() && loaded.error().message.find('\n') == std::string::npos);
    return 0;
  }
  const Tokenizer& tokenizer = **loaded;
  const auto ids = must_encode(tokenizer, input.spans, true);
  assert(ids == must_encode(tokenizer, input.spans, true));
  std::string text;
  std::vector<Span> untrusted;
  for (const Span& span : input.spans) {
    text += span.text;
    untrusted.push_back({span.text, false});
  }
  assert(must_encode(tokenizer, untrusted, false) == must_encode(tokenizer, {{text, false}}, false));
  check_exact(input, tokenizer, text);
  return 0;
}
