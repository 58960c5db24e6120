// A hub folder's tokenizer.model, alone and with the files beside it. Thread rule: single-threaded.
// Flow: run by CTest.
#include <mortise/tokenizer.h>

#include <catch2/catch.hpp>

#include "test_model.h"

using namespace mortise::sentencepiece;

namespace {

using Ids = std::vector<int32_t>;

bool ends(const Tokenizer& tokenizer, int32_t id) { return (tokenizer.flags(id) & MORTISE_PIECE_END) != 0; }

// 0 unk, 1 bos, 2 eos, 3 a control piece, 4 a user-defined one.
const std::vector<TestPiece> kPieces = {{"<unk>", 0, 2}, {"<s>", 0, 3},     {"</s>", 0, 3},    {"[I]", 0, 3},
                                        {"<u>", 0, 4},   {"\u2581", -9, 1}, {"a", -9, 1},      {"[", -9, 1},
                                        {"I", -9, 1},    {"]", -9, 1},      {"\u2581a", -1, 1}};
// model_type BPE; no charsmap, blanks are kept.
const std::string kTrainer = integer_field(3, 2), kNormalizer = integer_field(4, 0);

TestModel bare() { return hub_model(model_file(kPieces, kTrainer, kNormalizer)); }

TestModel with_config(const std::string& config) {
  TestModel model = bare();
  model.blobs["tokenizer_config.json"] = config;
  return model;
}

}  // namespace

TEST_CASE("sentencepiece hub: alone, only user-defined pieces are found in text") {
  const auto tokenizer = bare().must_load();
  CHECK(encode(*tokenizer, "[I]a") == Ids{5, 7, 8, 9, 6});
  CHECK(encode(*tokenizer, "a<u>a", false) == Ids{10, 4, 6});  // no dummy prefix within a text
  CHECK(encode(*tokenizer, "<u>a") == Ids{5, 4, 6});
  CHECK(tokenizer->bos() == 1);
  CHECK(tokenizer->eos() == 2);
  CHECK(tokenizer->add_bos());
  CHECK(encode(*tokenizer, "a", true, true) == Ids{1, 10});
  CHECK(ends(*tokenizer, 2));
  CHECK(tokenizer->bytes(0, false) == " \u2047 ");
  CHECK((tokenizer->flags(0) & MORTISE_PIECE_CONTROL) == 0);
  CHECK((tokenizer->flags(1) & MORTISE_PIECE_CONTROL) != 0);
}

TEST_CASE("sentencepiece hub: tokens that tokenizer_config.json adds") {
  const auto tokenizer = with_config(R"({"legacy": false, "add_bos_token": false, "added_tokens_decoder": {
      "3": {"content": "[I]", "special": true}, "12": {"content": "<|im_end|>", "special": true},
      "13": {"content": "<x>", "special": false}}})")
                             .must_load();
  CHECK(tokenizer->pieces().size() == 14);
  CHECK(tokenizer->pieces().type(11) == PieceType::unused);
  CHECK(encode(*tokenizer, "[I]a<|im_end|>", true) ==
        Ids{3, 6, 12});  // legacy false: a prefix at the start only
  CHECK(encode(*tokenizer, "[I]a", false) == Ids{5, 7, 8, 9, 6});
  CHECK(encode(*tokenizer, "a<x>", false) == Ids{10, 13});
  CHECK(tokenizer->bytes(12, false) == "<|im_end|>");
  CHECK((tokenizer->flags(12) & MORTISE_PIECE_CONTROL) != 0);
  CHECK(ends(*tokenizer, 12));
  CHECK((tokenizer->flags(13) & MORTISE_PIECE_CONTROL) == 0);
}

TEST_CASE("sentencepiece hub: legacy tokenizers put the prefix behind special tokens too") {
  const auto tokenizer =
      with_config(R"({"bos_token": {"content": "<s>"}, "additional_special_tokens": ["[I]"]})").must_load();
  CHECK(encode(*tokenizer, "<s>[I]a") == Ids{1, 3, 10});
  const auto plain = with_config(R"({"bos_token": "<s>", "add_prefix_space": false})").must_load();
  CHECK(encode(*plain, "<s>a") == Ids{1, 6});
}

TEST_CASE("sentencepiece hub: ids of config.json and generation_config.json") {
  TestModel model = bare();
  model.set("eos_token_id", 2);
  model.integers("generation_config.eos_token_id", {3, 4, 99});
  model.set_flag("tokenizer_config.add_bos_token", false);
  model.set_flag("tokenizer_config.add_eos_token", true);
  const auto tokenizer = model.must_load();
  for (int32_t id = 0; id < tokenizer->pieces().size(); ++id)
    CHECK(ends(*tokenizer, id) == (id >= 2 && id <= 4));
  CHECK(encode(*tokenizer, "a", true, true) == Ids{10, 2});
}

TEST_CASE("sentencepiece hub: a damaged tokenizer_config.json is refused with its path") {
  const auto error = [](const std::string& config) {
    const auto loaded = with_config(config).load();
    REQUIRE(!loaded);
    return loaded.error().text();
  };
  CHECK(error("{").find("folder/tokenizer_config.json") == 0);
  CHECK(error("[]").find("folder/tokenizer_config.json") == 0);
  CHECK(error(R"({"added_tokens_decoder": {"x": {"content": "a"}}})").find("added_tokens_decoder") !=
        std::string::npos);
  CHECK(error(R"({"added_tokens_decoder": {"99999999": {"content": "a"}}})").find("is no id below 1048576") !=
        std::string::npos);
  CHECK(error(R"({"added_tokens_decoder": {"11": {}}})").find("has no content") != std::string::npos);
}
