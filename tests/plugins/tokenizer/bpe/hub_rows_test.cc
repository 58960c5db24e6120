// The recorded rows of the fixtures, out of their own tokenizer.json: ids and decoded text to the letter.
// Thread rule: single-threaded. Flow: run by CTest.
#include <mortise/cpp/utf8.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "test_model.h"

using namespace mortise::bpe;
using nlohmann::json;

namespace {

void check_rows(const Tokenizer& tokenizer, const json& rows, bool plain_too) {
  REQUIRE(rows.size() >= 64);
  for (const json& row : rows) {
    const std::string text = row.at("text");
    INFO(json(text).dump());
    const std::vector<int32_t> ids = row.at("ids");
    CHECK(encode(tokenizer, text) == ids);
    if (plain_too) CHECK(encode(tokenizer, text, false) == row.value("ids_plain", ids));
    CHECK(mortise::replace_invalid(decode_text(tokenizer, ids)) == row.value("decoded", text));
  }
}

void check_fixture(const std::string& name) {
  const std::string folder = data_path("fixtures/tokenizers/" + name + "/");
  const auto tokenizer = hub_model(read_file(folder + "tokenizer.json")).must_load();
  check_rows(*tokenizer, json::parse(read_file(folder + "rows.json")).at("rows"), true);
}

}  // namespace

TEST_CASE("bpe hub rows: bpe-gpt2") { check_fixture("bpe-gpt2"); }
TEST_CASE("bpe hub rows: bpe-llama3") { check_fixture("bpe-llama3"); }
TEST_CASE("bpe hub rows: bpe-qwen2") { check_fixture("bpe-qwen2"); }
TEST_CASE("bpe hub rows: tiny-bpe") { check_fixture("tiny-bpe"); }
TEST_CASE("bpe hub rows: smollm2") { check_fixture("smollm2"); }

TEST_CASE("bpe hub rows: golden smollm2") {
  const auto tokenizer =
      hub_model(read_file(data_path("fixtures/tokenizers/smollm2/tokenizer.json"))).must_load();
  check_rows(*tokenizer, json::parse(read_file(data_path("golden/tokens.json"))).at("smollm2"), false);
}
