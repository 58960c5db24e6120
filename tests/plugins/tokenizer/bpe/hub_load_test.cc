// Damaged and hostile tokenizer.json files: each fault is one line that names the place. Thread rule:
// single-threaded. Flow: run by CTest.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "test_model.h"

using namespace mortise::bpe;
using Code = mortise::Code;
using Json = nlohmann::ordered_json;

namespace {

Json good() {
  Json out = Json::parse(R"({"version": "1.0", "added_tokens": [
    {"id": 4, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
     "special": true}], "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": null,
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<unk>": 3}, "merges": ["a b"]}})");
  return out;
}

void check_text(const std::string& text, const std::string& where, const std::string& part, Code code) {
  const auto loaded = hub_model(text).load();
  REQUIRE_FALSE(loaded);
  INFO(loaded.error().text());
  CHECK(loaded.error().where == where);
  CHECK(loaded.error().message.find(part) != std::string::npos);
  CHECK(loaded.error().message.find('\n') == std::string::npos);
  CHECK(loaded.error().code == code);
}

void check_bad(const Json& json, const std::string& path, const std::string& part,
               Code code = Code::bad_data) {
  check_text(json.dump(), "tokenizer.json " + path, part, code);
}

// The good file with one value changed.
Json with(const char* pointer, Json value) {
  Json out = good();
  out[Json::json_pointer(pointer)] = std::move(value);
  return out;
}

}  // namespace

TEST_CASE("bpe hub load: the good file loads") {
  const auto tokenizer = hub_model(good().dump()).must_load();
  CHECK(tokenizer->count() == 5);
  CHECK(encode(*tokenizer, "ab<s>") == std::vector<int32_t>{2, 4});
}

TEST_CASE("bpe hub load: text that isn't JSON") {
  for (const char* text : {"", "{", "{\"model\": }", "nonsense", "{\"a\": \"\xFF\"}", "[1, 2", "{} {}"})
    check_text(text, "tokenizer.json", "isn't JSON", Code::bad_data);
  check_text("[]", "tokenizer.json $", "must be an object", Code::bad_data);
  check_text("{}", "tokenizer.json $.model", "is missing", Code::bad_data);
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  check_text("{\"model\": " + deep + "}", "tokenizer.json", "nests deeper than 64", Code::limit);
}

TEST_CASE("bpe hub load: the model's type") {
  check_bad(with("/model/type", "Unigram"), "$.model.type", "\"Unigram\"", Code::unsupported);
  check_bad(with("/model/type", 3), "$.model.type", "must be a string");
  Json untyped = good();
  untyped["model"].erase("type");
  CHECK(hub_model(untyped.dump()).load());
  untyped["model"].erase("merges");
  check_bad(untyped, "$.model.type", "is missing", Code::unsupported);
}

TEST_CASE("bpe hub load: vocabularies") {
  check_bad(with("/model/vocab", Json::array()), "$.model.vocab", "must be an object");
  check_bad(with("/model/vocab", Json::object()), "$.model.vocab", "is empty");
  check_bad(with("/model/vocab/a", "0"), "$.model.vocab.a", "must be an integer");
  check_bad(with("/model/vocab/a", 1.5), "$.model.vocab.a", "must be an integer");
  check_bad(with("/model/vocab/a", -1), "$.model.vocab.a", "is -1");
  check_bad(with("/model/vocab/a", 4294967296), "$.model.vocab.a", "ids are 0 to 2097151");
  check_bad(with("/model/vocab/a", UINT64_MAX), "$.model.vocab.a", "must be an integer");
  check_bad(with("/model/vocab/ab", 1), "$.model.vocab.ab", "as \"b\" has");
  const auto gap = hub_model(with("/model/vocab/<unk>", 1000).dump()).must_load();
  CHECK(gap->count() == 1001);
  CHECK(gap->bytes(500, false).empty());
}

TEST_CASE("bpe hub load: merges") {
  check_bad(with("/model/merges", "a b"), "$.model.merges", "must be an array");
  for (const Json& merge : {Json("ab"), Json("a b c"), Json(1), Json::array({"a"}), Json::array({"a", 1})})
    check_bad(with("/model/merges", Json::array({"a b", merge})), "$.model.merges[1]", "pair of tokens");
  check_bad(with("/model/merges/0", "a x"), "$.model.merges[0]", "\"x\", which isn't a token");
  check_bad(with("/model/merges/0", Json::array({"b", "a"})), "$.model.merges[0]", "\"ba\"");
  CHECK(hub_model(with("/model/merges", Json::array({"#version: 0.2", "a b"})).dump()).load());
  check_bad(with("/model/dropout", 0.1), "$.model.dropout", "must be null", Code::unsupported);
}

TEST_CASE("bpe hub load: added tokens") {
  const char* const first = "/added_tokens/0/id";
  check_bad(with(first, 1), "$.added_tokens[0].id", "another token of the model");
  check_bad(with(first, -1), "$.added_tokens[0].id", "is -1");
  check_bad(with(first, 1 << 21), "$.added_tokens[0].id", "ids are 0 to");
  check_bad(with("/added_tokens/0/content", 5), "$.added_tokens[0].content", "must be a string");
  check_bad(with("/added_tokens/0/content", std::string(513, 'x')), "$.added_tokens[0].content",
            "limit is 512", Code::limit);
  Json twice = good();
  twice["added_tokens"].push_back(twice["added_tokens"][0]);
  twice["added_tokens"][1]["content"] = "</s>";
  check_bad(twice, "$.added_tokens", "gives id 4 to two tokens");
}

TEST_CASE("bpe hub load: an unknown part is named with its place") {
  const Json unknown = {{"type", "Fancy"}};
  check_bad(with("/normalizer", unknown), "$.normalizer.type", "no known normalizer", Code::unsupported);
  check_bad(with("/pre_tokenizer", unknown), "$.pre_tokenizer.type", "no known pre-tokenizer",
            Code::unsupported);
  check_bad(with("/decoder", unknown), "$.decoder.type", "no decoder", Code::unsupported);
  check_bad(with("/post_processor", unknown), "$.post_processor.type", "no known post-processor",
            Code::unsupported);
  const Json inside = {{"type", "Sequence"},
                       {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, unknown}}};
  check_bad(with("/pre_tokenizer", inside), "$.pre_tokenizer.pretokenizers[1].type", "\"Fancy\"",
            Code::unsupported);
  check_bad(with("/normalizer", Json{{"type", "Strip"}}), "$.normalizer.strip_left", "is missing");
}

TEST_CASE("bpe hub load: patterns") {
  const auto split = [](const char* regex) {
    return with(
        "/pre_tokenizer",
        Json{
            {"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}});
  };
  for (const char* regex :
       {"(", ")", "[", "[a", "a{2", "\\", "\\p{Nonsense}", "(?<n", "[z-a]", "*", "[a&&", "\\y"}) {
    if (std::string(regex) == "a{2") continue;  // a brace like any other
    check_bad(split(regex), "$.pre_tokenizer.pattern.Regex", "regular expression");
  }
  check_bad(split(std::string(70000, 'a').c_str()), "$.pre_tokenizer.pattern.Regex", "limit is 65536",
            Code::limit);
  Json odd = split("a");
  odd["pre_tokenizer"]["behavior"] = "Sometimes";
  check_bad(odd, "$.pre_tokenizer.behavior", "known are: Removed");
  odd["pre_tokenizer"]["pattern"] = Json::object();
  check_bad(odd, "$.pre_tokenizer.pattern", "String or a Regex");
}

TEST_CASE("bpe hub load: post-processors") {
  const Json single = {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}}}}};
  Json processor = {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", Json::object()}};
  check_bad(with("/post_processor", processor), "$.post_processor.single[0].SpecialToken.id",
            "special_tokens");
  processor["special_tokens"]["<s>"] = {{"id", "<s>"}, {"ids", {5}}};
  check_bad(with("/post_processor", processor), "$.post_processor.special_tokens.<s>.ids[0]", "is 5");
  processor["special_tokens"]["<s>"]["ids"] = {4};
  CHECK(encode(*hub_model(with("/post_processor", processor).dump()).must_load(), "a", true, true) ==
        std::vector<int32_t>{4, 0});
  processor["single"] = Json::array();
  check_bad(with("/post_processor", processor), "$.post_processor.single", "no place for the text");
}

TEST_CASE("bpe hub load: a sequence of too many parts") {
  Json parts = Json::array();
  for (int i = 0; i < 65; ++i) parts.push_back(Json{{"type", "NFC"}});
  check_bad(with("/normalizer", Json{{"type", "Sequence"}, {"normalizers", parts}}),
            "$.normalizer.normalizers[64]", "more than 64", Code::limit);
}

TEST_CASE("bpe hub load: rules that blow the vocabulary up end the load") {
  // 64 steps that double a text of one letter.
  Json doubling = {{"type", "Sequence"}, {"decoders", Json::array()}};
  for (int i = 0; i < 64; ++i)
    doubling["decoders"].push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
  check_text(with("/decoder", doubling).dump(), "decoder", "makes too much of it", Code::limit);
  // 100 added tokens that each become a MiB: none is too long, all of them are.
  Json many = with(
      "/normalizer",
      {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(size_t{1} << 20, 'b')}});
  for (int i = 0; i < 100; ++i)
    many["added_tokens"].push_back(
        {{"id", 5 + i}, {"content", "a" + std::to_string(i)}, {"special", false}, {"normalized", true}});
  check_text(many.dump(), "normalizer", "makes too much of it", Code::limit);
}
