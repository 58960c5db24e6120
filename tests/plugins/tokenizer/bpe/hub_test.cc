// What a hub folder's tokenizer does with trust, configuration, streaming and hostile patterns.
// Thread rule: single-threaded. Flow: run by CTest.
#include <mortise/tokenizer.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "test_model.h"

using namespace mortise::bpe;
using Ids = std::vector<int32_t>;
using Json = nlohmann::ordered_json;

namespace {

Json added(int id, const std::string& text, bool special, bool normalized = false) {
  return {{"id", id},        {"content", text},          {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", normalized}, {"special", special}};
}

// Tokens: the letters a to z as 0 to 25, then `more`; no merges.
Json letters(const std::vector<std::string>& more = {}) {
  Json vocab = Json::object();
  for (int i = 0; i < 26; ++i) vocab[std::string(1, static_cast<char>('a' + i))] = i;
  for (const std::string& text : more) vocab[text] = vocab.size();
  return {{"added_tokens", Json::array()},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", Json::array()}}}};
}

Json split_by(const std::string& regex) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
}

Ids encode_spans(const Tokenizer& tokenizer, const std::vector<Span>& spans) {
  Ids ids;
  REQUIRE(tokenizer.encode(spans, false, &ids));
  return ids;
}

uint32_t control_and_end(const Tokenizer& tokenizer, int32_t id) { return tokenizer.flags(id); }

}  // namespace

TEST_CASE("bpe hub: a special token with normalized lies wholly in trusted spans") {
  Json json = letters({"<", ">"});
  json["normalizer"] = {{"type", "Lowercase"}};
  json["added_tokens"] = {added(28, "<X>", true, true), added(29, "<Y>", false, true), added(30, "zz", true)};
  const auto tokenizer = hub_model(json.dump()).must_load();
  CHECK(encode(*tokenizer, "<X><x>") == Ids{28, 28});  // as the hub has it: both are <x> when normalized
  CHECK(encode(*tokenizer, "<X><Y>", false) == Ids{26, 23, 27, 29});
  CHECK(encode_spans(*tokenizer, {{"<X>", true}, {"<X><y>zz", false}, {"zz", true}}) ==
        Ids{28, 26, 23, 27, 29, 25, 25, 30});
  CHECK(encode_spans(*tokenizer, {{"<", true}, {"X>", false}}) == Ids{26, 23, 27});
}

TEST_CASE("bpe hub: a whole word never becomes a special token by its spelling") {
  Json json = letters({"end"});
  json["model"]["ignore_merges"] = true;
  json["added_tokens"] = {added(26, "end", true)};
  const auto tokenizer = hub_model(json.dump()).must_load();
  CHECK(encode(*tokenizer, "end", true) == Ids{26});
  CHECK(encode(*tokenizer, "end", false) == Ids{4, 13, 3});
}

TEST_CASE("bpe hub: BOS, EOS and ends out of the configuration") {
  Json json = letters();
  json["added_tokens"] = {added(26, "<s>", true), added(27, "</s>", true), added(28, "<|im_end|>", true),
                          added(29, "<|end|>", false), added(30, "<stop>", true)};
  TestModel model = hub_model(json.dump());
  model.metadata.set("tokenizer_config.bos_token.content", "<s>");
  model.metadata.set("tokenizer_config.eos_token", "</s>");
  model.metadata.set_integers("generation_config.eos_token_id", {27, 30, 99, -1});
  auto tokenizer = model.must_load();
  CHECK(tokenizer->special_ids().bos == 26);
  CHECK(tokenizer->special_ids().eos == 27);
  CHECK(tokenizer->special_ids().ends == Ids{27, 28, 30});
  CHECK(control_and_end(*tokenizer, 26) == MORTISE_PIECE_CONTROL);
  CHECK(control_and_end(*tokenizer, 28) == (MORTISE_PIECE_CONTROL | MORTISE_PIECE_END));
  CHECK(control_and_end(*tokenizer, 29) == 0);
  CHECK(encode(*tokenizer, "a", true, true) == Ids{0});
  model.metadata.set_bool("tokenizer_config.add_bos_token", true);
  model.metadata.set_bool("tokenizer_config.add_eos_token", true);
  tokenizer = model.must_load();
  CHECK(encode(*tokenizer, "a", true, true) == Ids{26, 0, 27});
  CHECK(encode(*tokenizer, "<s>a</s>", true, true) == Ids{26, 0, 27});

  TestModel plain = hub_model(json.dump());
  plain.metadata.set_integer("bos_token_id", 26);
  plain.metadata.set_integer("eos_token_id", 30);
  CHECK(plain.must_load()->special_ids().eos == 30);
}

TEST_CASE("bpe hub: add_bos_token false wins over the template") {
  TestModel model = hub_model(read_file(data_path("fixtures/tokenizers/bpe-llama3/tokenizer.json")));
  CHECK(encode(*model.must_load(), "a", true, true).front() == 2043);
  model.metadata.set("tokenizer_config.bos_token", "<|begin_of_text|>");
  model.metadata.set_bool("tokenizer_config.add_bos_token", false);
  CHECK(encode(*model.must_load(), "a", true, true) == encode(*model.must_load(), "a"));
}

TEST_CASE("bpe hub: in gpt-oss's form a message's end is no turn's end") {
  Json json = letters();
  json["added_tokens"] = {added(26, "<|end|>", true), added(27, "<|call|>", true)};
  CHECK(hub_model(json.dump()).must_load()->special_ids().ends == Ids{26, 27});
  json["added_tokens"].push_back(added(28, "<|return|>", true));
  CHECK(hub_model(json.dump()).must_load()->special_ids().ends == Ids{27, 28});
}

TEST_CASE("bpe hub: pieces stream with byte fallback and blanks") {
  Json json = letters({"<unk>", "\u2581", "\u2581a", "<0xE2>", "<0x82>", "<0xAC>", "<0x0A>"});
  json["model"]["byte_fallback"] = true;
  json["model"]["unk_token"] = "<unk>";
  json["model"]["merges"] = {"\u2581 a"};
  json["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  json["decoder"] = {{"type", "Sequence"},
                     {"decoders",
                      {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
                       {{"type", "ByteFallback"}},
                       {{"type", "Fuse"}},
                       {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
  const auto tokenizer = hub_model(json.dump()).must_load();
  const Ids ids = encode(*tokenizer, " a b\u20AC\n\u00E9");
  CHECK(ids == Ids{28, 27, 1, 29, 30, 31, 32, 26});
  CHECK(decode_text(*tokenizer, ids) == "a b\u20AC\n<unk>");
  CHECK(tokenizer->bytes(28, true) == "a");
  CHECK(tokenizer->bytes(28, false) == " a");
  CHECK(tokenizer->bytes(29, false) == "\xE2");
  json["decoder"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
  const auto other = hub_model(json.dump()).must_load();
  CHECK(decode_text(*other, {28, 28}) == "a a");
  json.erase("decoder");
  CHECK(decode_text(*hub_model(json.dump()).must_load(), {0, 1}) == "a b");
}

TEST_CASE("bpe hub: case tok-08, byte fallback is for whole characters") {
  Json json = {
      {"model",
       {{"type", "BPE"},
        {"byte_fallback", true},
        {"unk_token", "<unk>"},
        {"vocab",
         {{"<unk>", 0}, {"a", 1}, {"b", 2}, {"<0x0A>", 3}, {"<0xE2>", 4}, {"<0x82>", 5}, {"<0xAC>", 6}}},
        {"merges", Json::array()}}},
      {"decoder", {{"type", "ByteFallback"}}}};
  const auto tokenizer = hub_model(json.dump()).must_load();
  CHECK(encode(*tokenizer, "a\nb") == Ids{1, 3, 2});
  CHECK(encode(*tokenizer, "a\n\nb") == Ids{1, 3, 3, 2});
  CHECK(encode(*tokenizer, "a\u20ACb") == Ids{1, 4, 5, 6, 2});
  CHECK(encode(*tokenizer, "a\u00E9") == Ids{1, 0});
  CHECK(decode_text(*tokenizer, {1, 4, 5, 6, 2}) == "a\u20ACb");
}

TEST_CASE("bpe hub: what isn't UTF-8 becomes U+FFFD where the model takes no bytes") {
  Json json = letters({"\uFFFD"});
  const auto tokenizer = hub_model(json.dump()).must_load();
  CHECK(encode(*tokenizer, "a\xFF\xE2\x82z") == Ids{0, 26, 26, 25});
}

TEST_CASE("bpe hub: a pattern that backtracks without end is an error in bounded time") {
  for (const char* regex : {"(a+)+b", "(a|a)*c|a", "a*b|x", "(?:a*)*b", "(.*)*\\1b", "(?=(a+))\\1+b"}) {
    INFO(regex);
    Json json = letters();
    json["pre_tokenizer"] = split_by(regex);
    const auto tokenizer = hub_model(json.dump()).must_load();
    const std::string text(1 << 20, 'a');
    const Span span{text, true};
    Ids ids;
    const auto start = std::chrono::steady_clock::now();
    const auto done = tokenizer->encode(std::span(&span, 1), false, &ids);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
    if (!done) CHECK(done.error().code == mortise::Code::limit);
  }
}

TEST_CASE("bpe hub: steps that make a text grow without end are an error") {
  Json json = letters();
  Json steps = Json::array();
  for (int i = 0; i < 60; ++i)
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  const auto tokenizer = hub_model(json.dump()).must_load();
  Ids ids;
  const Span span{"a", true};
  const auto done = tokenizer->encode(std::span(&span, 1), false, &ids);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == mortise::Code::limit);
}

TEST_CASE("bpe hub: a megabyte as one word takes seconds at most") {
  Json json = letters({" ", "aa", "aaaa", "ab", "ba"});
  json["model"]["merges"] = {"a a", "aa aa", "a b", "b a"};
  const auto tokenizer = hub_model(json.dump()).must_load();
  std::string mixed;
  for (uint32_t i = 0, state = 1; i < 1000000; ++i) {
    state = state * 1664525 + 1013904223;
    mixed += static_cast<char>('a' + (state >> 30));
  }
  for (const std::string& text : {std::string(1000000, 'a'), std::string(1000000, ' '), mixed}) {
    const auto start = std::chrono::steady_clock::now();
    encode(*tokenizer, text);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  }
}
