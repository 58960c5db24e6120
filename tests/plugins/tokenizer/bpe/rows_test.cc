// The recorded rows of the published tokenizers and of the fixtures: ids and decoded text to the letter.
// Thread rule: single-threaded. Flow: run by CTest.
#include <mortise/cpp/utf8.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "test_metadata.h"

using namespace mortise::bpe;
using nlohmann::json;

namespace {

constexpr const char* kSmol = "SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr const char* kQwen = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf";

// The golden rows say nothing about special tokens taken as plain text.
void check_rows(const Tokenizer& tokenizer, const json& rows, bool plain_too) {
  REQUIRE(rows.size() >= 64);
  for (const json& row : rows) {
    const std::string text = row.at("text");
    INFO(json(text).dump());
    const std::vector<int32_t> ids = row.at("ids");
    CHECK(encode(tokenizer, text) == ids);
    if (plain_too) CHECK(encode(tokenizer, text, false) == row.value("ids_plain", ids));
    CHECK(mortise::replace_invalid(decode(tokenizer, ids)) == row.value("decoded", text));
  }
}

json fixture_rows(const std::string& name) {
  return json::parse(read_file(data_path("fixtures/tokenizers/" + name + "/rows.json"))).at("rows");
}

json golden_rows(const std::string& name) {
  return json::parse(read_file(data_path("golden/tokens.json"))).at(name);
}

void check_fixture(const std::string& name, const std::string& pre) {
  const auto metadata =
      from_tokenizer_json(data_path("fixtures/tokenizers/" + name + "/tokenizer.json"), pre);
  check_rows(*metadata.must_load(), fixture_rows(name), true);
}

}  // namespace

TEST_CASE("bpe rows: fixture bpe-gpt2") { check_fixture("bpe-gpt2", "gpt-2"); }
TEST_CASE("bpe rows: fixture bpe-llama3") { check_fixture("bpe-llama3", "llama-bpe"); }
TEST_CASE("bpe rows: fixture bpe-qwen2") { check_fixture("bpe-qwen2", "qwen2"); }
TEST_CASE("bpe rows: fixture tiny-bpe") { check_fixture("tiny-bpe", "gpt-2"); }
TEST_CASE("bpe rows: fixture smollm2") { check_fixture("smollm2", "smollm"); }

TEST_CASE("bpe rows: golden smollm2") {
  const auto metadata =
      from_tokenizer_json(data_path("fixtures/tokenizers/smollm2/tokenizer.json"), "smollm");
  check_rows(*metadata.must_load(), golden_rows("smollm2"), false);
}

TEST_CASE("bpe rows: SmolLM2 as its GGUF has it") {
  REQUIRE(!model_path(kSmol).empty());
  const auto tokenizer = from_gguf(model_path(kSmol)).must_load();
  check_rows(*tokenizer, fixture_rows("smollm2"), true);
  check_rows(*tokenizer, golden_rows("smollm2"), false);
}

TEST_CASE("bpe rows: Qwen2.5 as its GGUF has it") {
  if (model_path(kQwen).empty()) {
    WARN("skipped: " << kQwen << " was not fetched");
    return;
  }
  const auto tokenizer = from_gguf(model_path(kQwen)).must_load();
  check_rows(*tokenizer, fixture_rows("qwen2.5"), true);
  check_rows(*tokenizer, golden_rows("qwen2"), false);
}
