// tiktoken and tekken files: families, special tokens, and faults. Thread rule: single-threaded.
// Flow: run by CTest; vs_tiktoken.py compares ids with the package.
#include <mortise/tokenizer.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base64.h"
#include "test_model.h"

using namespace mortise::bpe;
using Code = mortise::Code;
using Ids = std::vector<int32_t>;
using Json = nlohmann::ordered_json;

namespace {

std::string to_base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * j) & 63];
  }
  return out;
}

std::string byte_lines(const std::vector<std::string>& more = {}) {
  std::string out;
  int rank = 0;
  for (int byte = 0; byte < 256; ++byte)
    out += to_base64(std::string(1, static_cast<char>(byte))) + " " + std::to_string(rank++) + "\n";
  for (const std::string& text : more) out += to_base64(text) + " " + std::to_string(rank++) + "\n";
  return out;
}

TestModel tiktoken_model(const std::string& lines, const char* model_type) {
  TestModel out;
  out.blobs["tokenizer.tiktoken"] = lines;
  out.metadata.set("model_type", model_type);
  return out;
}

Json tekken() {
  Json words = Json::array();
  for (int byte = 0; byte < 256; ++byte)
    words.push_back({{"rank", byte}, {"token_bytes", to_base64(std::string(1, static_cast<char>(byte)))}});
  words.push_back({{"rank", 256}, {"token_bytes", to_base64("ab")}});
  words.push_back({{"rank", 257}, {"token_bytes", to_base64("unused")}});
  return {{"config",
           {{"pattern", "\\p{L}+|[^\\p{L}]+"},
            {"default_vocab_size", 287},
            {"default_num_special_tokens", 30},
            {"version", "v3"}}},
          {"vocab", words}};
}

void check_bad(TestModel model, const std::string& where, const std::string& part,
               Code code = Code::bad_data) {
  const auto loaded = model.load();
  REQUIRE_FALSE(loaded);
  INFO(loaded.error().text());
  CHECK(loaded.error().where == where);
  CHECK(loaded.error().message.find(part) != std::string::npos);
  CHECK(loaded.error().message.find('\n') == std::string::npos);
  CHECK(loaded.error().code == code);
}

void check_tekken(const char* pointer, Json value, const std::string& where, const std::string& part,
                  Code code = Code::bad_data) {
  Json json = tekken();
  json[Json::json_pointer(pointer)] = std::move(value);
  TestModel model;
  model.blobs["tekken.json"] = json.dump();
  check_bad(std::move(model), "tekken.json " + where, part, code);
}

}  // namespace

TEST_CASE("bpe ranks: base64") {
  std::string bytes;
  for (const std::string& text :
       {std::string("a"), std::string("ab"), std::string("abc"), std::string("\0\xFF", 2)}) {
    REQUIRE(read_base64(to_base64(text), &bytes));
    CHECK(bytes == text);
  }
  for (const char* text : {"", "a", "abc", "ab=c", "====", "YQ=", "Y===", "YR==", "Y Q=", "YQ==YQ=="})
    CHECK_FALSE(read_base64(text, &bytes));
}

TEST_CASE("bpe ranks: any two neighbours merge whose text is a token") {
  const auto tokenizer = tiktoken_model(byte_lines({"bc", "ab", "abc", "abcd"}), "qwen").must_load();
  CHECK(encode(*tokenizer, "abc") == Ids{258});
  CHECK(encode(*tokenizer, "xabcd") == Ids{'x', 259});
  CHECK(encode(*tokenizer, "ab") == Ids{257});
  CHECK(tokenizer->bytes(258, false) == "abc");
}

TEST_CASE("bpe ranks: special tokens of a family, and those of tokenizer_config.json instead") {
  TestModel model = tiktoken_model(byte_lines(), "llama");
  const auto tokenizer = model.must_load();
  CHECK(tokenizer->count() == 512);
  CHECK(tokenizer->bytes(256, false) == "<|begin_of_text|>");
  CHECK(tokenizer->bytes(256 + 255, false) == "<|reserved_special_token_247|>");
  CHECK(encode(*tokenizer, "a<|eot_id|>", true, true) == Ids{256, 'a', 265});
  CHECK((tokenizer->flags(265) & MORTISE_PIECE_END) != 0);
  CHECK(encode(*tokenizer, "<|eot_id|>", false).size() == 10);
  model.blobs["tokenizer_config.json"] =
      R"({"added_tokens_decoder": {"300": {"content": "<|stop|>", "special": true}}})";
  const auto configured = model.must_load();
  CHECK(configured->count() == 301);
  CHECK(encode(*configured, "<|stop|>") == Ids{300});
  CHECK(tiktoken_model(byte_lines(), "qwen").must_load()->bytes(256 + 2, false) == "<|im_end|>");
}

TEST_CASE("bpe ranks: faults of a tiktoken file") {
  const std::string where = "tokenizer.tiktoken";
  check_bad(tiktoken_model(byte_lines(), "nonsense"), where, "known are: qwen (151643)", Code::unsupported);
  check_bad(tiktoken_model("", "qwen"), where, "no tokens");
  for (const char* line : {"YQ== 300x\n", "YQ==\n", "YQ== \n", "YQ== -1\n", "YQ== 99999999999\n"})
    check_bad(tiktoken_model(byte_lines() + line, "qwen"), where, "has no rank");
  for (const char* line : {"Y! 300\n", "YQ 300\n", " 300\n", "\xFF 300\n"})
    check_bad(tiktoken_model(byte_lines() + line, "qwen"), where, "base64");
  check_bad(tiktoken_model(byte_lines() + "YWI= 7\n", "qwen"), where, "has rank 7, as another's");
  check_bad(tiktoken_model(byte_lines() + "YWI= 4000000\n", "qwen"), where, "a rank beyond 2097152");
  check_bad(tiktoken_model(to_base64(std::string(5000, 'a')) + " 0\n", "qwen"), where, "4096 bytes");
  TestModel config = tiktoken_model(byte_lines(), "qwen");
  config.blobs["tokenizer_config.json"] = R"({"added_tokens_decoder": {"7": {"content": "<|x|>"}}})";
  check_bad(config, "tokenizer_config.json $.added_tokens_decoder.7", "already");
  config.blobs["tokenizer_config.json"] = R"({"added_tokens_decoder": {"x": {"content": "<|x|>"}}})";
  check_bad(config, "tokenizer_config.json $.added_tokens_decoder.x", "isn't a token's id");
}

TEST_CASE("bpe ranks: tekken, with special tokens in text only where something writes them") {
  TestModel model;
  model.blobs["tekken.json"] = tekken().dump();
  const auto bare = model.must_load();
  CHECK(bare->count() == 287);
  CHECK(encode(*bare, "ab") == Ids{286});
  CHECK(encode(*bare, "<s>") == Ids{30 + '<', 30 + 's', 30 + '>'});
  CHECK(bare->bytes(1, false) == "<s>");
  CHECK(bare->bytes(29, false) == "<SPECIAL_29>");
  CHECK((bare->flags(1) & MORTISE_PIECE_CONTROL) != 0);
  model.blobs["chat_template.jinja"] = "{{ bos_token }}";
  CHECK(encode(*model.must_load(), "<s>ab") == Ids{1, 286});
  CHECK(encode(*model.must_load(), "<s>", false) == Ids{30 + '<', 30 + 's', 30 + '>'});
}

TEST_CASE("bpe ranks: faults of a tekken file") {
  check_tekken("/config/default_vocab_size", 0, "$.config.default_vocab_size", "is 0", Code::limit);
  check_tekken("/config/default_vocab_size", 1 << 22, "$.config.default_vocab_size", "limit", Code::limit);
  check_tekken("/config/default_vocab_size", 300, "$.vocab", "no token of rank 258");
  check_tekken("/config/default_num_special_tokens", 287, "$.config.default_num_special_tokens",
               "287 in all");
  check_tekken("/config/pattern", "(", "$.config.pattern", "regular expression");
  check_tekken("/vocab/5/token_bytes", "!", "$.vocab[5]", "base64");
  check_tekken("/vocab/5/rank", 6, "$.vocab[6]", "as another's");
  check_tekken("/vocab/5", 6, "$.vocab[5]", "no rank");
  check_tekken("/special_tokens", Json::array({{{"rank", 40}, {"token_str", "<s>"}}}),
               "$.special_tokens[0].rank", "is 40");
  check_tekken("/special_tokens", Json::array({{{"rank", 4}, {"token_str", ""}}}),
               "$.special_tokens[0].token_str", "1 to 512 bytes");
}

TEST_CASE("bpe ranks: which file is read, and a folder without any") {
  TestModel model;
  const auto loaded = model.load();
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == Code::unsupported);
  model = tiktoken_model(byte_lines(), "qwen");
  model.blobs["tekken.json"] = tekken().dump();
  CHECK(model.must_load()->count() == 287);
  model.blobs["tokenizer.json"] = read_file(data_path("fixtures/tokenizers/tiny-bpe/tokenizer.json"));
  CHECK(model.must_load()->count() == 320);
}
