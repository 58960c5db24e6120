// Damaged and hostile metadata: each fault is an error that names the key. Thread rule: single-threaded.
// Flow: run by CTest.
#include <catch2/catch.hpp>

#include "test_metadata.h"

using namespace mortise::bpe;
namespace hub = mortise::hub;

namespace {

using Code = mortise::Code;

constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kEos = "tokenizer.ggml.eos_token_id";

TestMetadata good() { return byte_vocabulary({"ab", "abc", "<s>"}, {"a b", "ab c"}); }

void check_bad(const TestMetadata& metadata, const std::string& where, const std::string& part,
               Code code = Code::bad_data) {
  const auto loaded = metadata.load();
  REQUIRE_FALSE(loaded);
  INFO(loaded.error().text());
  CHECK(loaded.error().where == where);
  CHECK(loaded.error().message.find(part) != std::string::npos);
  CHECK(loaded.error().message.find('\n') == std::string::npos);
  CHECK(loaded.error().code == code);
}

}  // namespace

TEST_CASE("bpe load: a good file loads, with or without token types") {
  TestMetadata metadata = good();
  CHECK(metadata.load());
  metadata.remove(kTypes);
  CHECK(metadata.load());
  metadata.set_strings(kMerges, {});
  CHECK(metadata.load());
}

TEST_CASE("bpe load: model and missing keys") {
  for (const char* key : {"tokenizer.ggml.model", kTokens, kMerges}) {
    TestMetadata metadata = good();
    metadata.remove(key);
    const auto loaded = metadata.load();
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().where == key);
  }
  TestMetadata metadata = good();
  metadata.set("tokenizer.ggml.model", "llama");
  check_bad(metadata, "tokenizer.ggml.model", "\"llama\"", Code::unsupported);
  metadata.set_integer("tokenizer.ggml.model", 1);
  check_bad(metadata, "tokenizer.ggml.model", "must be a string");
}

TEST_CASE("bpe load: an unknown pre-tokenizer is answered with the known ones") {
  TestMetadata metadata = good();
  for (const char* name : {"tekkens", "", "gpt", "gpt-2 gpt2", " ", "a\nb"}) {
    metadata.set("tokenizer.ggml.pre", name);
    check_bad(metadata, "tokenizer.ggml.pre", "known are: gpt-2 gpt2 phi-2 olmo mpt smollm starcoder",
              Code::unsupported);
  }
  for (const char* name : {"gpt-2", "gpt2", "smollm", "starcoder", "refact", "qwen2", "stablelm2",
                           "llama-bpe", "llama3", "llama-v3", "dbrx", "gpt-4o", "tekken", "default"}) {
    metadata.set("tokenizer.ggml.pre", name);
    CHECK(metadata.load());
  }
  metadata.remove("tokenizer.ggml.pre");
  CHECK(metadata.load());
}

TEST_CASE("bpe load: token types must fit the tokens") {
  TestMetadata metadata = good();
  metadata.integers(kTypes).pop_back();
  check_bad(metadata, kTypes, "has 258 entries for 259 tokens");
  metadata = good();
  metadata.integers(kTypes)[7] = 9;
  check_bad(metadata, kTypes, "entry 7 is 9");
  metadata.integers(kTypes)[7] = -1;
  check_bad(metadata, kTypes, "entry 7 is -1");
  metadata.set_strings(kTypes, std::vector<std::string>(259, "1"));
  check_bad(metadata, kTypes, "must be an integer array");
  metadata.set_integer(kTypes, 1);
  check_bad(metadata, kTypes, "must be an integer array");
}

TEST_CASE("bpe load: ids out of range name their key") {
  for (const char* name : {"bos", "eos", "eot", "eom", "unknown", "padding"}) {
    const std::string key = std::string("tokenizer.ggml.") + name + "_token_id";
    for (const int64_t id : {int64_t{259}, int64_t{-1}, int64_t{UINT32_MAX}, INT64_MAX, INT64_MIN}) {
      TestMetadata metadata = good();
      metadata.set_integer(key, id);
      check_bad(metadata, key, "is " + std::to_string(id));
    }
    TestMetadata metadata = good();
    metadata.set_integer(key, 258);
    CHECK(metadata.load());
  }
  TestMetadata metadata = good();
  metadata.set(kEos, "2");
  check_bad(metadata, kEos, "must be an integer");
  metadata = good();
  metadata.set_bool("tokenizer.ggml.add_bos_token", true);
  check_bad(metadata, "tokenizer.ggml.add_bos_token", "names no such token");
}

TEST_CASE("bpe load: a merge that isn't one names its index") {
  const std::pair<const char*, const char*> faults[] = {
      {"ab", "one blank"},    {"a b c", "one blank"}, {" ab", "one blank"}, {"ab ", "one blank"},
      {"", "one blank"},      {"a  b", "one blank"},  {" ", "one blank"},   {"zz a", "left part"},
      {"a zz", "right part"}, {"b a", "makes a text"}};
  for (const auto& [entry, message] : faults) {
    TestMetadata metadata = good();
    metadata.strings(kMerges)[1] = entry;
    check_bad(metadata, kMerges, message);
    check_bad(metadata, kMerges, "entry 1 ");
  }
  TestMetadata metadata = good();
  metadata.set_integers(kMerges, {1, 2});
  check_bad(metadata, kMerges, "must be a string array");
}

TEST_CASE("bpe load: limits are named") {
  TestMetadata metadata = good();
  metadata.strings(kTokens)[258] = std::string(hub::kAddedBytesMax + 1, 'x');
  CHECK(metadata.load());
  metadata.integers(kTypes)[258] = 3;
  check_bad(metadata, kTokens, "entry 258 is a special token of 513 bytes; the limit is 512", Code::limit);
  metadata = good();
  metadata.set_strings(kTokens, std::vector<std::string>(hub::kTokensMax + 1));
  metadata.remove(kTypes);
  check_bad(metadata, kTokens, "the limit is 2097152", Code::limit);
  metadata = good();
  metadata.set_strings(kMerges, std::vector<std::string>(kMaxMerges + 1));
  check_bad(metadata, kMerges, "the limit is 4194304", Code::limit);
  metadata = good();
  metadata.set_strings(kTokens, {});
  check_bad(metadata, kTokens, "is empty");
}

TEST_CASE("bpe load: equal and empty tokens are no fault, the first of equals encodes, all decode") {
  TestMetadata metadata = byte_vocabulary({"ab", "ab", "", "a"}, {"a b"});
  const auto tokenizer = metadata.must_load();
  CHECK(encode(*tokenizer, "ab a") == std::vector<int32_t>{256, 32, 97});
  CHECK(decode(*tokenizer, {256, 257, 258, 259}) == "ababa");
}

TEST_CASE("bpe load: a merge that stands there twice counts where it stands last") {
  const auto tokenizer = byte_vocabulary({"ab", "bc"}, {"a b", "b c", "a b"}).must_load();
  CHECK(encode(*tokenizer, "abc") == std::vector<int32_t>{97, 257});
}
