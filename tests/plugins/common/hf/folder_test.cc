// Tests of hub folders: shards, index, configs, companions, files with a tokenizer alone.
// Thread rule: single-threaded. Flow: tests plugins/common/hf/folder.cc, shards.cc, tokenizer_file.cc.
#include "hf/folder.h"

#include <catch2/catch.hpp>

#include "file_maker.h"
#include "hf/tokenizer_file.h"
#include "sdk/fake_host.h"

using hf_test::one_tensor;
using mortise::hf::Folder;
using mortise::hf::Glance;

namespace {

const std::string kFixtures = MORTISE_TEST_DATA "/fixtures/";

std::string error_of(const std::string& path) {
  mortise_test::FakeHost host;
  const auto opened = Folder::open(host.host(), path, false);
  REQUIRE_FALSE(opened);
  return opened.error().text();
}

std::string text_of(mortise_bytes bytes) { return {reinterpret_cast<const char*>(bytes.data), bytes.size}; }

constexpr const char* kIndex = "model.safetensors.index.json";

}  // namespace

TEST_CASE("a sharded folder opens by its index") {
  mortise_test::FakeHost host;
  const auto folder = Folder::open(host.host(), kFixtures + "tiny/llama-sharded", false);
  REQUIRE(folder);
  const auto whole = Folder::open(host.host(), kFixtures + "tiny/llama", false);
  REQUIRE(whole);
  CHECK(folder->metadata().text("model_type") == "llama");
  const auto* tensor = folder->find("model.embed_tokens.weight");
  REQUIRE(tensor != nullptr);
  CHECK(tensor->rank == 2);
  CHECK(folder->tensors().size() > whole->tensors().size());  // three layers instead of two
  CHECK(folder->find("model.embed_tokens.weights") == nullptr);
}

TEST_CASE("a shard stands for all that its index names") {
  mortise_test::FakeHost host;
  const std::string path = kFixtures + "tiny/llama-sharded";
  const auto folder = Folder::open(host.host(), path, false);
  const auto shard = Folder::open(host.host(), path + "/model-00002-of-00003.safetensors", false);
  REQUIRE(folder);
  REQUIRE(shard);
  CHECK(shard->tensors().size() == folder->tensors().size());
  CHECK(shard->metadata().text("model_type") == "llama");
}

TEST_CASE("one .safetensors file opens with the config beside it") {
  mortise_test::FakeHost host;
  const auto folder = Folder::open(host.host(), kFixtures + "tiny/llama/model.safetensors", false);
  REQUIRE(folder);
  CHECK(folder->metadata().find("hidden_size") != nullptr);
  CHECK(text_of(folder->blob("config.json")).find("hidden_size") != std::string::npos);
  CHECK(folder->quant_method().empty());
}

TEST_CASE("files without an index are taken together, adapters and consolidated ones are not") {
  hf_test::Folder files;
  files.put("b.safetensors", one_tensor("b")).put("a.safetensors", one_tensor("a"));
  files.put("adapter_model.safetensors", "junk").put("consolidated.safetensors", "junk");
  mortise_test::FakeHost host;
  const auto folder = Folder::open(host.host(), files.path(), false);
  REQUIRE(folder);
  REQUIRE(folder->tensors().size() == 2);
  CHECK(folder->tensors()[0]->name == "a");
  CHECK(folder->tensors()[0]->file != folder->tensors()[1]->file);
  files.put("c.safetensors", one_tensor("a"));
  CHECK(error_of(files.path()).find("c.safetensors@") != std::string::npos);
  hf_test::Folder only;
  only.put("consolidated.safetensors", one_tensor("a"));
  CHECK(Folder::open(host.host(), only.path(), false));
}

TEST_CASE("an index must name what is there, in plain file names") {
  const auto with_index = [](const std::string& index) {
    hf_test::Folder files;
    files.put("a.safetensors", one_tensor("a")).put(kIndex, index);
    mortise_test::FakeHost host;
    const auto opened = Folder::open(host.host(), files.path(), false);
    return opened ? std::string() : opened.error().text();
  };
  CHECK(with_index(R"({"metadata":{"total_size":4},"weight_map":{"a":"a.safetensors"}})").empty());
  CHECK(with_index(R"({"weight_map":{"b":"a.safetensors"}})").find("\"b\", which is not in") !=
        std::string::npos);
  CHECK(with_index(R"({"weight_map":{"a":"b.safetensors"}})").find("b.safetensors") != std::string::npos);
  for (const char* name : {"../a.safetensors", "/etc/x.safetensors", "x/a.safetensors", ".safetensors",
                           "a.bin", "", "..", "a.safetensors\\u0000.safetensors", "..\\u002fa.safetensors"}) {
    INFO(name);
    const std::string error = with_index(R"({"weight_map":{"a":")" + std::string(name) + "\"}}");
    CHECK(error.find(std::string(kIndex) + "@") != std::string::npos);
    CHECK(error.find("no plain") != std::string::npos);
  }
  CHECK(with_index(R"({"weight_map":{"a":"a.safetensors","a":"a.safetensors"}})").find("twice") !=
        std::string::npos);
  for (const char* bad :
       {"", "{", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":"x"})", R"({"weight_map":{"a":1}})",
        R"({"weight_map":{"a":{}}})", R"({"weight_map":{},"weight_map":{}})"}) {
    INFO(bad);
    CHECK_FALSE(with_index(bad).empty());
  }
}

TEST_CASE("configs keep their prefixes, older quantization files become config keys") {
  hf_test::Folder files;
  files.put("model.safetensors", one_tensor("a")).put("config.json", R"({"a":1,"sub":{"b":2}})");
  files.put("generation_config.json", R"({"eos_token_id":[1,2]})");
  files.put("tokenizer_config.json", R"({"added_tokens_decoder":{"0":{"content":"x"}},"eos_token":"</s>"})");
  files.put("chat_template.jinja", "{{ x }}").put("quantize_config.json", R"({"bits":4,"group_size":32})");
  mortise_test::FakeHost host;
  const auto folder = Folder::open(host.host(), files.path(), false);
  REQUIRE(folder);
  const auto& metadata = folder->metadata();
  CHECK(metadata.find("generation_config.eos_token_id")->ints == std::vector<int64_t>{1, 2});
  CHECK(metadata.text("tokenizer_config.eos_token") == "</s>");
  CHECK_FALSE(metadata.has_prefix("tokenizer_config.added_tokens_decoder"));
  CHECK(metadata.find("quantization_config.bits") != nullptr);
  CHECK(folder->quant_method() == "gptq");
  CHECK(text_of(folder->blob("chat_template.jinja")) == "{{ x }}");
  CHECK(folder->blob("tokenizer.json").data == nullptr);
  files.put("config.json", "{");
  CHECK(error_of(files.path()).find("config.json@") != std::string::npos);
}

TEST_CASE("tokenizer files are known by what is in them, whatever they are called") {
  const std::pair<const char*, const char*> known[] = {
      {"tokenizers/smollm2/tokenizer.json", "tokenizer.json"},
      {"tokenizers/bpe-llama3/tokenizer.json", "tokenizer.json"},
      {"tokenizers/bpe-qwen2/tokenizer.json", "tokenizer.json"},
      {"tokenizers/tiny-bpe/tokenizer.json", "tokenizer.json"},
      {"tokenizers/mistral-v3/tokenizer.model", "tokenizer.model"},
      {"tokenizers/spm-bpe/tokenizer.model", "tokenizer.model"}};
  for (const auto& [file, kind] : known) {
    mortise_test::FakeHost host;
    INFO(file);
    const auto folder = Folder::open(host.host(), kFixtures + file, false);
    REQUIRE(folder);
    CHECK(folder->tensors().empty());
    CHECK(folder->blob(kind).size > 0);
  }
  using mortise::hf::tokenizer_file_kind;
  CHECK(tokenizer_file_kind("IQ== 0\nIg== 1\n") == "tokenizer.tiktoken");
  CHECK(tokenizer_file_kind("{\"config\":{\"pattern\":\"x\",\"default_vocab_size\":131072}}") ==
        "tekken.json");
  for (const std::string_view other :
       {"", "{}", "GGUF", "IQ==", "IQ== x\n", "hello world\n", "\x0a\x05\x0a\x09"})
    CHECK(tokenizer_file_kind(other).empty());
}

TEST_CASE("a folder with a tokenizer alone opens without tensors, an empty one does not") {
  hf_test::Folder files;
  CHECK(error_of(files.path()).find("neither") != std::string::npos);
  files.put("qwen.tiktoken", "IQ== 0\n").put("tokenizer_config.json", "{}");
  mortise_test::FakeHost host;
  const auto folder = Folder::open(host.host(), files.path(), false);
  REQUIRE(folder);
  CHECK(folder->blob("tokenizer.tiktoken").size == 7);
  CHECK(mortise::hf::glance(host.host(), files.path(), "").kind == Glance::tokenizer_only);
  hf_test::Folder llama3;
  llama3.put("tokenizer.model", "IQ== 0\n");
  const auto tiktoken = Folder::open(host.host(), llama3.path(), false);
  REQUIRE(tiktoken);
  CHECK(tiktoken->blob("tokenizer.model").data == nullptr);
  CHECK(tiktoken->blob("tokenizer.tiktoken").size == 7);
}

TEST_CASE("a glance tells what a path is without failing") {
  mortise_test::FakeHost host;
  const auto at = [&](const std::string& path, std::string_view head = {}) {
    return mortise::hf::glance(host.host(), path, head);
  };
  CHECK(at(kFixtures + "tiny/llama").kind == Glance::safetensors);
  CHECK(at(kFixtures + "tiny/llama").quant_method.empty());
  CHECK(at(kFixtures + "quant/awq-llama-g32").quant_method == "awq");
  CHECK(at(kFixtures + "quant/gptq-llama-g32/model.safetensors").quant_method == "gptq");
  CHECK(at(kFixtures + "tokenizers/tiny-bpe").kind == Glance::tokenizer_only);
  CHECK(at("/nowhere/renamed", hf_test::small_file()).kind == Glance::safetensors);
  CHECK(at("/nowhere/x.gguf", "GGUF").kind == Glance::other);
  CHECK(at(kFixtures + "blocks").kind == Glance::other);
  CHECK(at(std::string("\0x", 2), std::string_view("\0\0", 2)).kind == Glance::other);
}
