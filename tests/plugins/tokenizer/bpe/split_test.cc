// The rows of pre-tokenizers on texts that tell them apart, and normal form C. Thread rule: single-threaded.
// Flow: run by CTest; vs_hub.py compares whole rows with the published tokenizers.
#include <catch2/catch.hpp>

#include "test_metadata.h"
#include "tokenizer/unicode_forms.h"

using namespace mortise::bpe;
namespace hub = mortise::hub;

namespace {

std::vector<std::string> pieces(const std::string& pre, std::string_view text) {
  TestMetadata metadata;
  metadata.set("tokenizer.ggml.pre", pre);
  const auto row = find_pre_tokenizer(Metadata([&](std::string_view key) { return metadata.get(key); }));
  REQUIRE(row);
  auto pre_tokenizer = make_pre_tokenizer((*row)->pattern);
  REQUIRE(pre_tokenizer);
  hub::Pieces pieces;
  hub::MatchScratch scratch;
  pieces.reset(text, true);
  REQUIRE(pre_tokenizer->run(&pieces, &scratch));
  std::vector<std::string> out;
  for (size_t i = 0; i < pieces.list.size(); ++i) out.emplace_back(pieces[i]);
  return out;
}

using Pieces = std::vector<std::string>;

}  // namespace

TEST_CASE("bpe split: blanks before digits and words") {
  CHECK(pieces("gpt-2", "a  12 b") == Pieces{"a", " ", " 12", " b"});
  CHECK(pieces("smollm", "a  12 b") == Pieces{"a", "  ", "1", "2", " b"});
  CHECK(pieces("qwen2", "a  12 b") == Pieces{"a", " ", " ", "1", "2", " b"});
  CHECK(pieces("llama-bpe", "a  1234 b") == Pieces{"a", " ", " ", "123", "4", " b"});
  CHECK(pieces("default", "a  1234 b") == Pieces{"a", " ", " ", "123", "4", " b"});
  CHECK(pieces("gpt-2", "a  ") == Pieces{"a", "  "});
}

TEST_CASE("bpe split: contractions, line ends, punctuation") {
  CHECK(pieces("gpt-2", "it's IT'S") == Pieces{"it", "'s", " IT", "'", "S"});
  CHECK(pieces("qwen2", "it's IT'S") == Pieces{"it", "'s", " IT", "'S"});
  CHECK(pieces("default", "it's") == Pieces{"it", "'", "s"});
  CHECK(pieces("gpt-2", "x.\n\ny") == Pieces{"x", ".", "\n", "\n", "y"});
  CHECK(pieces("llama-bpe", "x.\n\ny") == Pieces{"x", ".\n\n", "y"});
  CHECK(pieces("default", "a $5<=`b`") == Pieces{"a", " ", "$", "5", "<=", "`", "b", "`"});
}

TEST_CASE("bpe split: U+180E is no blank, U+0085 and U+3000 are") {
  for (const char* pre : {"gpt-2", "smollm", "qwen2", "llama-bpe", "default"}) {
    INFO(pre);
    CHECK(pieces(pre, "\u180E\u180E1").front() == "\u180E\u180E");
    CHECK(pieces(pre, "\u0085\u3000!").front() ==
          (std::string_view(pre) == "default" ? "\u0085\u3000" : "\u0085"));
  }
}

TEST_CASE("bpe split: letters, digits and marks that Unicode 15 and 16 assigned") {
  const std::string letter = "\U00031350", digit = "\U0001E5F1", mark = "\U00010EFC";
  CHECK(pieces("gpt-2", "a" + letter + "b1" + digit) == Pieces{"a" + letter + "b", "1" + digit});
  CHECK(pieces("smollm", digit + digit) == Pieces{digit, digit});
  CHECK(pieces("gpt-4o", "a" + mark + "b") == Pieces{"a" + mark + "b"});
  CHECK(pieces("gpt-2", "a\U0003FFFDb") == Pieces{"a", "\U0003FFFD", "b"});  // not assigned
}

TEST_CASE("bpe split: form C composes, orders marks and leaves the rest alone") {
  const std::pair<const char*, const char*> texts[] = {
      {"", ""},
      {"plain ASCII", "plain ASCII"},
      {"\u00E9 stays", "\u00E9 stays"},
      {"xe\u0301y", "x\u00E9y"},
      {"\u0301 first", "\u0301 first"},
      {"a\u0301\u0316", "\u00E1\u0316"},  // the mark below sorts before the one above, which still composes
      {"q\u0301\u0316", "q\u0316\u0301"},
      {"\u00EA\u0323", "\u1EC7"},        // decomposed, ordered and composed again
      {"\u1112\u1161\u11AB", "\uD55C"},  // Hangul
      {"\u212B\u2126", "\u00C5\u03A9"},
      {"\u0958", "\u0915\u093C"},  // excluded from composition
      {"a\u0340b",
       "\u00E0"
       "b"}};
  for (const auto& [text, expected] : texts) {
    INFO(text);
    const auto form_c = hub::to_form(text, hub::UnicodeForm::nfc);
    REQUIRE(form_c);
    CHECK(*form_c == expected);
    if (*form_c != text) CHECK(hub::may_need_form(text, hub::UnicodeForm::nfc));
  }
}
