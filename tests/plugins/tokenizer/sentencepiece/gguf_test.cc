// What GGUF metadata means, with vocabularies made by hand. Thread rule: single-threaded. Flow: run by CTest.
#include <mortise/tokenizer.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "test_model.h"

using namespace mortise::sentencepiece;

namespace {

using Ids = std::vector<int32_t>;

bool ends(const Tokenizer& tokenizer, int32_t id) { return (tokenizer.flags(id) & MORTISE_PIECE_END) != 0; }

// 0 unk, 1 bos, 2 eos, 3 turn, 4 user-defined newlines, then text.
const std::vector<TestPiece> kPieces = {
    {"<unk>", 0, 2}, {"<s>", 0, 3},      {"</s>", 0, 3},      {"<end_of_turn>", 0, 3},
    {"\n\n", 0, 4},  {"\u2581", -9, 1},  {"a", -9, 1},        {"b", -9, 1},
    {"ab", -1, 1},   {"\u2581a", -2, 1}, {"\u2581ab", -3, 1}, {"<", -9, 1},
    {"s", -9, 1},    {">", -9, 1},       {"  ", 0, 4}};

TestModel small() {
  TestModel model = gguf_model("llama", kPieces);
  model.set("tokenizer.ggml.bos_token_id", 1);
  model.set("tokenizer.ggml.eos_token_id", 2);
  return model;
}

Ids encode_spans(const Tokenizer& tokenizer, const std::vector<Span>& spans) {
  Ids ids;
  REQUIRE(tokenizer.encode(spans, false, &ids));
  return ids;
}

std::string error_of(const TestModel& model) {
  const auto loaded = model.load();
  REQUIRE(!loaded);
  CHECK(loaded.error().message.find('\n') == std::string::npos);
  return loaded.error().text();
}

}  // namespace

TEST_CASE("sentencepiece gguf: joins by score, and the dummy prefix") {
  const auto tokenizer = small().must_load();
  CHECK(encode(*tokenizer, "ab") == Ids{10});
  CHECK(encode(*tokenizer, "b") == Ids{5, 7});
  CHECK(encode(*tokenizer, "").empty());
  CHECK(encode(*tokenizer, " ab") == Ids{14, 8});
  CHECK(encode(*tokenizer, "x") == Ids{5, 0});
  CHECK(encode(*tokenizer, "xyz") == Ids{5, 0});  // neighbours that are unknown are one
  TestModel model = small();
  model.set_flag("tokenizer.ggml.add_space_prefix", false);
  const auto plain = model.must_load();
  CHECK(encode(*plain, "ab") == Ids{8});
  CHECK(decode(*tokenizer, {10, 10}) == "ab ab");
  CHECK(decode(*plain, {10, 10}) == " ab ab");
}

TEST_CASE("sentencepiece gguf: control pieces only in trusted text, user-defined ones in any") {
  const auto tokenizer = small().must_load();
  CHECK(encode(*tokenizer, "<s>ab", true) == Ids{1, 10});        // as after a BOS that add_special puts there
  CHECK(encode(*tokenizer, "ab</s>ab", true) == Ids{10, 2, 8});  // no prefix behind other special tokens
  CHECK(encode(*tokenizer, "<s>ab", false) == Ids{5, 11, 12, 13, 8});
  CHECK(encode(*tokenizer, "ab\n\nab", false) == Ids{10, 4, 8});
  CHECK(encode(*tokenizer, "<unk>", true) == Ids{0});
  CHECK(encode_spans(*tokenizer, {{"<s", true}, {">", true}}) == Ids{1});
  CHECK(encode_spans(*tokenizer, {{"<s", true}, {">", false}}) == Ids{5, 11, 12, 13});
  CHECK(encode_spans(*tokenizer, {{"a", true}, {"b", false}}) == Ids{10});  // one text across the border
  CHECK(encode_spans(*tokenizer, {{"a\n", true}, {"\nb", false}}) == Ids{9, 4, 7});
}

TEST_CASE("sentencepiece gguf: runs of blanks are joined in the text") {
  TestModel model = small();
  model.set_flag("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = model.must_load();
  CHECK(encode(*tokenizer, "  ab") == Ids{14, 8});  // before the better known piece of a blank and "ab"
  CHECK(encode(*tokenizer, "   ab", false) == Ids{14, 10});
  CHECK(tokenizer->bytes(14, false) == "  ");
}

TEST_CASE("sentencepiece gguf: special tokens of Phi 3 take the blanks behind them") {
  TestModel model = small();
  model.set("general.architecture", "phi3");
  const auto tokenizer = model.must_load();
  CHECK(encode(*tokenizer, "<end_of_turn> \nab<end_of_turn>\n", true) == Ids{3, 10, 3});
  CHECK(encode(*tokenizer, "<s> ab", true) == Ids{1, 14, 8});
}

TEST_CASE("sentencepiece gguf: flags and special ids") {
  TestModel model = small();
  const auto tokenizer = model.must_load();
  CHECK(tokenizer->add_bos());
  CHECK(!tokenizer->add_eos());
  CHECK(encode(*tokenizer, "ab", true, true) == Ids{1, 10});
  CHECK(encode(*tokenizer, "<s>ab", true, true) == Ids{1, 10});
  CHECK((tokenizer->flags(0) & MORTISE_PIECE_CONTROL) != 0);
  CHECK((tokenizer->flags(1) & MORTISE_PIECE_CONTROL) != 0);
  CHECK((tokenizer->flags(4) & MORTISE_PIECE_CONTROL) == 0);
  for (int32_t id = 0; id < tokenizer->pieces().size(); ++id)
    CHECK(ends(*tokenizer, id) == (id == 2 || id == 3));
  model.set("tokenizer.ggml.eot_token_id", 13);
  model.set_flag("tokenizer.ggml.add_bos_token", false);
  const auto other = model.must_load();
  CHECK(ends(*other, 13));
  CHECK(!other->add_bos());
}

TEST_CASE("sentencepiece gguf: a file without types, and bytes that are spelled only") {
  TestModel model =
      gguf_model("llama", {{"<unk>", 0, 1}, {"<s>", 0, 1}, {"a", -1, 1}, {"<0xC3>", 0, 1}, {"<0xA9>", 0, 1}});
  model.remove("tokenizer.ggml.token_type");
  model.set("tokenizer.ggml.unknown_token_id", 0);
  model.set("tokenizer.ggml.bos_token_id", 1);
  model.set_flag("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = model.must_load();
  CHECK(encode(*tokenizer, "a\u00E9") == Ids{2, 3, 4});
  CHECK(encode(*tokenizer, "<s>a?") == Ids{1, 2, 0});
  CHECK(decode(*tokenizer, {2, 3, 4}) == "a\u00E9");
}

TEST_CASE("sentencepiece gguf: unigram, with EOS as T5 has it") {
  TestModel model = gguf_model("t5", {{"<pad>", 0, 3},
                                      {"</s>", 0, 3},
                                      {"<unk>", 0, 2},
                                      {"\u2581", -3, 1},
                                      {"a", -3, 1},
                                      {"b", -3, 1},
                                      {"\u2581ab", -4, 1},
                                      {"ab", -7, 1},
                                      {"[x]", 0, 5}});
  model.set("tokenizer.ggml.eos_token_id", 1);
  model.set_flag("tokenizer.ggml.remove_extra_whitespaces", true);
  const auto tokenizer = model.must_load();
  CHECK(encode(*tokenizer, "  ab   ab ", true, true) == Ids{6, 6, 1});
  CHECK(encode(*tokenizer, "abab") == Ids{6, 4, 5});  // -3 and -3 beat -7
  CHECK(encode(*tokenizer, "[x]") == Ids{3, 2});
  CHECK(tokenizer->pieces().type(8) == PieceType::unused);
}

TEST_CASE("sentencepiece gguf: what is refused, by its key") {
  const std::string tokens = "tokenizer.ggml.tokens";
  TestModel model = small();
  model.set("tokenizer.ggml.model", "gpt2");
  CHECK(error_of(model) == "tokenizer.ggml.model: is \"gpt2\"; SentencePiece is \"llama\" or \"t5\"");
  model = small();
  model.remove("tokenizer.ggml.scores");
  CHECK(error_of(model) == "tokenizer.ggml.scores: has 0 entries for 15 tokens; convert the model again");
  model = small();
  model.numbers("tokenizer.ggml.scores", std::vector<double>(15, NAN));
  CHECK(error_of(model) ==
        "tokenizer.ggml.tokens: piece 0 has a score that is not a finite number; the file is damaged");
  model = small();
  model.numbers("tokenizer.ggml.scores", std::vector<double>(15, 1e300));
  CHECK(error_of(model).find("not a finite number") != std::string::npos);
  model = small();
  model.integers("tokenizer.ggml.token_type", std::vector<int64_t>(15, 7));
  CHECK(error_of(model) ==
        "tokenizer.ggml.token_type: entry 0 is 7, outside 0 to 6; convert the model again");
  model.integers("tokenizer.ggml.token_type", std::vector<int64_t>(14, 1));
  CHECK(error_of(model) ==
        "tokenizer.ggml.token_type: has 14 entries for 15 tokens; convert the model again");
  model.integers("tokenizer.ggml.token_type", std::vector<int64_t>(15, 6));
  CHECK(error_of(model) ==
        tokens + ": piece 0, \"<unk>\", is a byte piece but names no byte; the file is damaged");
  model = small();
  model.set("tokenizer.ggml.eos_token_id", 15);
  CHECK(error_of(model) ==
        "tokenizer.ggml.eos_token_id: is 15, but the tokens are 0 to 14; convert the model again");
  model = small();
  model.integers(tokens, {1});
  CHECK(error_of(model) == tokens + ": is no array of the right type; convert the model again");
  model.strings(tokens, {});
  CHECK(error_of(model) == tokens + ": is missing or empty; convert the model again");
  model.strings(tokens, std::vector<std::string>(15, std::string(513, 'x')));
  CHECK(error_of(model) == tokens + ": entry 0 has 513 bytes; the limit is 512; convert the model again");
  model = small();
  model.integers("tokenizer.ggml.precompiled_charsmap", {4, 0, 0, 0, 1});
  CHECK(error_of(model) ==
        tokens +
            "@0: precompiled_charsmap has a trie of 4 bytes, not a multiple of 1024; the file is damaged");
}
