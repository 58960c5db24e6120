// What encoding does with special tokens, spans, BOS and EOS, bytes that aren't text, and very long words.
// Thread rule: one test uses several threads. Flow: run by CTest.
#include <mortise/tokenizer.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "test_metadata.h"

using namespace mortise::bpe;
namespace hub = mortise::hub;

namespace {

using Ids = std::vector<int32_t>;

constexpr const char* kTypes = "tokenizer.ggml.token_type";

// Tokens from 256 on with their types; the bytes of ASCII text are their own ids.
std::unique_ptr<Tokenizer> with_special(const std::vector<std::pair<std::string, int>>& tokens,
                                        const std::vector<std::string>& merges = {}) {
  std::vector<std::string> texts;
  for (const auto& [text, type] : tokens) texts.push_back(text);
  TestMetadata metadata = byte_vocabulary(texts, merges);
  for (size_t i = 0; i < tokens.size(); ++i) metadata.integers(kTypes)[256 + i] = tokens[i].second;
  return metadata.must_load();
}

Ids encode_spans(const Tokenizer& tokenizer, const std::vector<Span>& spans, bool add_special = false) {
  Ids ids;
  REQUIRE(tokenizer.encode(spans, add_special, &ids));
  return ids;
}

Ids bytes_of(std::string_view text) {
  const auto tokenizer = byte_vocabulary().must_load();
  return encode(*tokenizer, text);
}

constexpr int kUnknown = 2, kControl = 3, kUser = 4, kUnused = 5;

}  // namespace

TEST_CASE("bpe encode: the longest special token at the leftmost place") {
  const auto tokenizer =
      with_special({{"<a>", kControl}, {"<a><b>", kControl}, {"<b>", kControl}, {"a>", kControl}});
  CHECK(encode(*tokenizer, "<a><b><b><a>") == Ids{257, 258, 256});
  CHECK(encode(*tokenizer, "<a><") == Ids{256, '<'});
  CHECK(encode(*tokenizer, "xa>") == Ids{'x', 259});
  CHECK(encode(*tokenizer, "<a") == Ids{'<', 'a'});
}

TEST_CASE("bpe encode: which types are found where") {
  const auto tokenizer =
      with_special({{"<c>", kControl}, {"<u>", kUser}, {"<k>", kUnknown}, {"<n>", kUnused}});
  CHECK(encode(*tokenizer, "<c><u><k><n>") == Ids{256, 257, 258, '<', 'n', '>'});
  CHECK(encode(*tokenizer, "<c><u>", false) == Ids{'<', 'c', '>', 257});
  CHECK(encode(*tokenizer, "<k>", false) == Ids{'<', 'k', '>'});
  CHECK(decode(*tokenizer, {256, 257, 258, 259}) == "<c><u><k>");
}

TEST_CASE("bpe encode: a control token that isn't allowed doesn't hide a shorter one that is") {
  const auto tokenizer = with_special({{"<c>", kControl}, {"<c", kUser}});
  CHECK(encode(*tokenizer, "<c>", false) == Ids{257, '>'});
  CHECK(encode(*tokenizer, "<c>", true) == Ids{256});
}

TEST_CASE("bpe encode: a control token lies wholly in trusted spans") {
  const auto tokenizer = with_special({{"<|end|>", kControl}, {"<t>", kUser}});
  const Ids plain = bytes_of("<|end|>");
  CHECK(encode_spans(*tokenizer, {{"<|end|>", true}}) == Ids{256});
  CHECK(encode_spans(*tokenizer, {{"<|en", true}, {"d|>", true}}) == Ids{256});
  CHECK(encode_spans(*tokenizer, {{"<|en", true}, {"", false}, {"d|>", true}}) == Ids{256});
  for (size_t cut = 1; cut < 7; ++cut) {
    const std::string_view text = "<|end|>";
    CHECK(encode_spans(*tokenizer, {{text.substr(0, cut), true}, {text.substr(cut), false}}) == plain);
    CHECK(encode_spans(*tokenizer, {{text.substr(0, cut), false}, {text.substr(cut), true}}) == plain);
  }
  CHECK(encode_spans(*tokenizer, {{"<|e", true}, {"n", false}, {"d|>", true}}) == plain);
  CHECK(encode_spans(*tokenizer, {{"a", true}, {"<|end|>", false}, {"<|end|>", true}}) == [&] {
    Ids ids{'a'};
    ids.insert(ids.end(), plain.begin(), plain.end());
    ids.push_back(256);
    return ids;
  }());
  CHECK(encode_spans(*tokenizer, {{"<", true}, {"t>", false}}) == Ids{257});
}

TEST_CASE("bpe encode: apart from that, spans are one text") {
  const auto tokenizer = with_special({{"ab", 1}, {"abc", 1}}, {"a b", "ab c"});
  CHECK(encode_spans(*tokenizer, {{"xa", true}, {"b", false}, {"c", true}}) == encode(*tokenizer, "xabc"));
  CHECK(encode_spans(*tokenizer, {{"a", true}, {"bc", false}}) == Ids{257});
  CHECK(encode_spans(*tokenizer, {}).empty());
  CHECK(encode_spans(*tokenizer, {{"", true}, {"", false}}).empty());
}

TEST_CASE("bpe encode: BOS and EOS as the metadata says, never twice") {
  TestMetadata metadata = byte_vocabulary({"<s>", "</s>"});
  metadata.integers(kTypes)[256] = metadata.integers(kTypes)[257] = kControl;
  metadata.set_integer("tokenizer.ggml.bos_token_id", 256);
  metadata.set_integer("tokenizer.ggml.eos_token_id", 257);
  CHECK(encode(*metadata.must_load(), "a", true, true) == Ids{'a'});
  metadata.set("tokenizer.ggml.pre", "llama-bpe");
  CHECK(encode(*metadata.must_load(), "a", true, true) == Ids{256, 'a'});
  metadata.set_bool("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = metadata.must_load();
  CHECK(encode(*tokenizer, "a", true, true) == Ids{256, 'a', 257});
  CHECK(encode(*tokenizer, "", true, true) == Ids{256, 257});
  CHECK(encode(*tokenizer, "<s>a</s>", true, true) == Ids{256, 'a', 257});
  CHECK(encode(*tokenizer, "<s>a</s>", true, false) == Ids{256, 'a', 257});
  CHECK(encode(*tokenizer, "<s>", false, true) == Ids{256, '<', 's', '>', 257});
  metadata.set_bool("tokenizer.ggml.add_bos_token", false);
  CHECK(encode(*metadata.must_load(), "a", true, true) == Ids{'a', 257});
  CHECK((tokenizer->flags(257) & MORTISE_PIECE_END) != 0);
  CHECK_FALSE((tokenizer->flags(256) & MORTISE_PIECE_END) != 0);
}

TEST_CASE("bpe encode: a whole word that is a token is taken as it is, but never a special token") {
  const std::vector<std::string> merges = {"a b"};
  TestMetadata metadata = byte_vocabulary({"ab", "abc", "\xC4\xA0x", "xyz"}, merges);
  metadata.integers(kTypes)[259] = kControl;
  CHECK(encode(*metadata.must_load(), "abc x") == Ids{256, 'c', ' ', 'x'});
  metadata.set("tokenizer.ggml.pre", "llama-bpe");
  CHECK(encode(*metadata.must_load(), "abc x") == Ids{257, 258});
  CHECK(encode(*metadata.must_load(), "xyz", false) == Ids{'x', 'y', 'z'});
}

TEST_CASE("bpe encode: what isn't UTF-8 is encoded byte by byte, apart from its neighbours") {
  const auto tokenizer = with_special({{"ab", 1}, {"\xC3\xA2\xC4\xA4", 1}}, {"a b", "\xC3\xA2 \xC4\xA4"});
  CHECK(tokenizer->bytes(257, false) == "\xE2\x82");
  CHECK(encode(*tokenizer,
               "ab\xFF\xFE"
               "ab") == Ids{256, 0xFF, 0xFE, 256});
  CHECK(encode(*tokenizer, "\xE2\x82") == Ids{257});
  CHECK(encode(*tokenizer, "\xE2\x82\xAC") == Ids{257, 0xAC});
  CHECK(encode(*tokenizer, "a\xED\xA0\x80") == Ids{'a', 0xED, 0xA0, 0x80});
  for (const char* pre : {"gpt-2", "smollm", "qwen2", "llama-bpe", "default", "dbrx", "gpt-4o", "tekken"}) {
    TestMetadata metadata = byte_vocabulary();
    metadata.set("tokenizer.ggml.pre", pre);
    const auto any = metadata.must_load();
    std::string all;
    for (int i = 0; i < 512; ++i) all += static_cast<char>(i * 37 % 256);
    CHECK(decode(*any, encode(*any, all)) == all);
  }
}

TEST_CASE("bpe encode: added tokens decode as they stand, others through the byte alphabet") {
  const auto tokenizer =
      with_special({{"\xC4\xA0<u>", kUser}, {"\xC3\xA9", kControl}, {"\xC4\xA0t", 1}, {"a b", 1}});
  CHECK(decode(*tokenizer, {256, 257, 258, 259}) == "\xC4\xA0<u>\xC3\xA9 ta b");
}

TEST_CASE("bpe encode: a text over the limit is refused") {
  const auto tokenizer = byte_vocabulary().must_load();
  const std::string half(hub::kTextBytesMax / 2 + 1, 'a');
  Ids ids;
  const std::vector<Span> spans = {{half, true}, {half, true}};
  const auto done = tokenizer->encode(spans, false, &ids);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == mortise::Code::limit);
  CHECK(ids.empty());
}

TEST_CASE("bpe encode: a megabyte without a break takes seconds at most, on every pattern") {
  std::vector<std::string> texts;
  for (const char one : {'a', ' ', '\n', '!', '1', '<'}) texts.emplace_back(1000000, one);
  std::string marks = "a", mixed;
  for (int i = 0; i < 250000; ++i) marks += i % 2 != 0 ? "\xCC\x81" : "\xCC\x96";
  for (uint32_t i = 0, state = 1; i < 1000000; ++i) {
    state = state * 1664525 + 1013904223;
    mixed += static_cast<char>('a' + (state >> 24) % 26);
  }
  texts.push_back(marks);
  texts.push_back(mixed);
  for (const char* pre : {"gpt-2", "smollm", "qwen2", "llama-bpe", "default", "dbrx", "gpt-4o", "tekken"}) {
    const auto metadata = from_tokenizer_json(data_path("fixtures/tokenizers/bpe-gpt2/tokenizer.json"), pre);
    const auto tokenizer = metadata.must_load();
    for (const std::string& text : texts) {
      INFO(pre << " " << text.substr(0, 8));
      const auto start = std::chrono::steady_clock::now();
      const Ids ids = encode(*tokenizer, text);
      CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
      if (text != marks || std::string_view(pre) != "qwen2") CHECK(decode(*tokenizer, ids) == text);
    }
  }
}

TEST_CASE("bpe encode: many threads at once give what one gives") {
  const auto metadata =
      from_tokenizer_json(data_path("fixtures/tokenizers/bpe-qwen2/tokenizer.json"), "qwen2");
  const auto tokenizer = metadata.must_load();
  const std::string text = read_file(data_path("fixtures/tokenizers/bpe-qwen2/rows.json"));
  const Ids expected = encode(*tokenizer, text);
  std::vector<Ids> results(8);
  std::vector<std::thread> threads;
  for (Ids& result : results)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        result.clear();
        const Span span{text, true};
        if (!tokenizer->encode(std::span(&span, 1), false, &result)) result.clear();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const Ids& result : results) CHECK(result == expected);
}
