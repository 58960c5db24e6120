// The recorded rows of the fixtures, the published cases about SentencePiece, and long texts.
// Thread rule: single-threaded but where a test says so. Flow: run by CTest.
#include <mortise/cpp/utf8.h>
#include <mortise/tokenizer.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "test_model.h"

using namespace mortise::sentencepiece;
using nlohmann::json;

namespace {

std::string data_path(const std::string& name) { return std::string(MORTISE_TEST_DATA) + "/" + name; }

std::unique_ptr<Tokenizer> fixture(const std::string& name) {
  return hub_model(read_file(data_path("fixtures/tokenizers/" + name + "/tokenizer.model"))).must_load();
}

json find_case(const std::string& id) {
  std::istringstream lines(read_file(data_path("cases/cases.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    if (row.at("id") == id) return row;
  }
  throw std::runtime_error("no case " + id);
}

using Ids = std::vector<int32_t>;

}  // namespace

TEST_CASE("sentencepiece rows: ids and decoded text of the fixtures") {
  for (const char* name : {"spm-bpe", "mistral-v3"}) {
    const auto tokenizer = fixture(name);
    const json rows =
        json::parse(read_file(data_path(std::string("fixtures/tokenizers/") + name + "/rows.json")));
    REQUIRE(rows.at("rows").size() == 64);
    for (const json& row : rows.at("rows")) {
      INFO(name << ": " << row.at("text").dump());
      const Ids ids = row.at("ids").get<Ids>();
      CHECK(encode(*tokenizer, row.at("text").get<std::string>()) == ids);
      CHECK(decode(*tokenizer, ids) == row.value("decoded", row.at("text").get<std::string>()));
    }
  }
}

TEST_CASE("sentencepiece cases: tok-08, a character falls back to all of its bytes or to none") {
  const json row = find_case("tok-08");
  std::vector<TestPiece> pieces(row.at("input").at("tiny_spm_like_vocab").size());
  for (const auto& [text, id] : row.at("input").at("tiny_spm_like_vocab").items())
    pieces[id.get<size_t>()] = {text, -1.0, text == "<unk>" ? 2 : text.size() == 6 ? 6 : 1};
  TestModel model = gguf_model("llama", pieces);
  model.set_flag("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = model.must_load();
  for (const auto& [text, ids] : row.at("expected").at("ids").items()) {
    INFO(text);
    CHECK(encode(*tokenizer, text) == ids.get<Ids>());
  }
  CHECK(decode(*tokenizer, {1, 3, 2}) == "a\nb");
  CHECK(decode(*tokenizer, {1, 4, 5, 6, 2}) == "a\u20ACb");
  mortise::Utf8Stream stream;
  std::string text;
  for (const int32_t id : {1, 4, 5, 2})
    text += stream.feed(tokenizer->bytes(id, false), (tokenizer->flags(id) & MORTISE_PIECE_BYTE) != 0);
  CHECK(text == "a\uFFFD\uFFFDb");
}

TEST_CASE("sentencepiece cases: tok-10, only the first piece of a text loses its blank") {
  const json row = find_case("tok-10");
  std::vector<TestPiece> pieces = {{"<unk>", 0, 2}};
  Ids ids;
  for (const std::string text : row.at("input").at("pieces_in_order")) {
    ids.push_back(static_cast<int32_t>(pieces.size()));
    pieces.push_back({text, -1, 1});
  }
  const auto tokenizer = gguf_model("llama", pieces).must_load();
  const std::string whole = row.at("expected").at("joined_stream");
  std::string joined;
  for (size_t i = 0; i < ids.size(); ++i) {
    joined += tokenizer->bytes(ids[i], i == 0);
    CHECK(whole.substr(0, joined.size()) == joined);
  }
  CHECK(joined == whole);
}

// The bounds are generous: what grows with the square of the text takes minutes.
TEST_CASE("sentencepiece: time is linear in the text") {
  constexpr size_t kSize = 1'000'000;
  std::string unbroken, chinese;
  for (uint32_t state = 1; unbroken.size() < kSize; state = state * 1664525u + 1013904223u)
    unbroken += static_cast<char>('!' + (state >> 16) % 90);
  while (chinese.size() < kSize) chinese += "\u4F60\u597D\u4E16\u754C";
  const auto unigram =
      hub_model(model_file({{"<unk>", 0, 2}, {"a", -1, 1}, {"aa", -1.5, 1}, {"aaa", -2.5, 1}}, "\x18\x01"))
          .must_load();
  const auto mistral = fixture("mistral-v3");
  for (const Tokenizer* tokenizer : {mistral.get(), unigram.get()}) {
    for (const std::string& text :
         {std::string(kSize, 'a'), std::string(kSize, ' '), std::string(kSize, '\n'), unbroken, chinese}) {
      const auto start = std::chrono::steady_clock::now();
      encode(*tokenizer, text);
      CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
    }
  }
}

TEST_CASE("sentencepiece: many threads encode with one tokenizer") {
  const auto tokenizer = fixture("spm-bpe");
  const json rows = json::parse(read_file(data_path("fixtures/tokenizers/spm-bpe/rows.json"))).at("rows");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (const json& row : rows) {
        const std::string text = row.at("text");
        const Span span{text, true};
        Ids ids;
        if (!tokenizer->encode(std::span(&span, 1), false, &ids) || ids != row.at("ids").get<Ids>()) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
