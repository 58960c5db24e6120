// The cases of tests/data/cases about byte-level BPE, read from there. Thread rule: single-threaded.
// Flow: run by CTest; the published cases' model is SmolLM2 as its GGUF has it.
#include <mortise/cpp/utf8.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "test_metadata.h"

using namespace mortise::bpe;
using nlohmann::json;

namespace {

json find_case(const std::string& id) {
  std::istringstream lines(read_file(data_path("cases/cases.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    if (row.at("id") == id) return row;
  }
  throw std::runtime_error("no case " + id);
}

std::unique_ptr<Tokenizer> smollm2() {
  const std::string path = model_path("SmolLM2-135M-Instruct.Q4_1.gguf");
  REQUIRE(!path.empty());
  return from_gguf(path).must_load();
}

std::string from_hex(const std::string& text) {
  std::istringstream parts(text);
  std::string out, two;
  while (parts >> two) out += static_cast<char>(std::stoi(two, nullptr, 16));
  return out;
}

}  // namespace

TEST_CASE("bpe cases: tok-01 tok-02 tok-04, ids and the text back") {
  const auto tokenizer = smollm2();
  for (const char* id : {"tok-01", "tok-02", "tok-04"}) {
    const json row = find_case(id);
    for (const auto& [text, ids] : row.at("expected").at("ids").items()) {
      INFO(id << " " << json(text).dump());
      CHECK(encode(*tokenizer, text, false) == ids.get<std::vector<int32_t>>());
      CHECK(decode(*tokenizer, ids) == text);
    }
  }
}

TEST_CASE("bpe cases: tok-05, a control token's text in a message is text unless asked otherwise") {
  const auto tokenizer = smollm2();
  const json row = find_case("tok-05"), expected = row.at("expected");
  const std::string text = row.at("input").at("text");
  CHECK(encode(*tokenizer, text, false) == expected.at("parse_special=false").get<std::vector<int32_t>>());
  CHECK(encode(*tokenizer, text, true) == expected.at("parse_special=true").get<std::vector<int32_t>>());
}

TEST_CASE("bpe cases: tok-07, pieces of every length, none empty") {
  const auto tokenizer = smollm2();
  const json expected = find_case("tok-07").at("expected");
  const std::string text = std::string(64, ' ') + "X";
  const auto ids = encode(*tokenizer, text);
  CHECK(ids == expected.at("ids").get<std::vector<int32_t>>());
  std::vector<size_t> lengths;
  for (const int32_t id : ids) lengths.push_back(tokenizer->bytes(id, false).size());
  CHECK(lengths == expected.at("per_token_byte_lengths").get<std::vector<size_t>>());
  CHECK(decode(*tokenizer, ids) == text);
  for (int32_t id = 0; id < tokenizer->count(); ++id)
    if (tokenizer->bytes(id, false).empty()) FAIL("token " << id << " is empty");
}

TEST_CASE("bpe cases: tok-11, bytes without a token are left out") {
  const auto tokenizer = smollm2();
  CHECK(encode(*tokenizer,
               "a\x04"
               "b") == std::vector<int32_t>{81, 82});
  CHECK(encode(*tokenizer, "\x04").empty());
  CHECK(encode(*tokenizer, "\U00050000x") == std::vector<int32_t>{234, 218, 218, 104});
  std::istringstream names("04 06 13 14 16 1D C0 C1 F1 F2 F5 F6 F7 F8 F9 FA FB FC FD FE FF");
  int missing = 0;
  for (std::string name; names >> name; ++missing)
    CHECK(vocabulary_of(*tokenizer).byte_token(static_cast<uint8_t>(from_hex(name)[0])) == kNoToken);
  for (unsigned byte = 0; byte < 256; ++byte)
    missing -= vocabulary_of(*tokenizer).byte_token(static_cast<uint8_t>(byte)) == kNoToken;
  CHECK(missing == 0);
}

TEST_CASE("bpe cases: str-08, bytes that can't become valid neither stall nor fail") {
  const json row = find_case("str-08");
  mortise::Utf8Stream stream;
  std::string joined;
  for (const std::string piece : row.at("input").at("token_bytes_in_order"))
    joined += stream.feed(from_hex(piece));
  joined += stream.finish();
  CHECK(joined == "a\uFFFD(\u20AC\uFFFDA");
}
