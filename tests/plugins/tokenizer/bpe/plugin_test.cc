// The plugin as the host meets it: the shared object, its manifest's part and the C calls.
// Thread rule: single-threaded. Flow: run by CTest.
#include <dlfcn.h>
#include <mortise/plugin.h>
#include <mortise/tokenizer.h>

#include <catch2/catch.hpp>

#include "test_metadata.h"

using namespace mortise::bpe;

namespace {

const mortise_part& part() {
  void* library = dlopen(BPE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* entry = reinterpret_cast<mortise_plugin_entry*>(dlsym(library, MORTISE_ENTRY_NAME));
  REQUIRE(entry != nullptr);
  REQUIRE(entry()->part_count == 1);
  return *entry()->parts[0];
}

mortise_status meta(void* ctx, mortise_str key, mortise_meta* value) {
  const auto found = static_cast<const TestMetadata*>(ctx)->get(mortise::view(key));
  if (!found) return MORTISE_NOT_FOUND;
  *value = *found;
  return MORTISE_OK;
}

mortise_model model_of(TestMetadata* metadata) {
  mortise_model model = {};
  model.size = sizeof(model);
  model.ctx = metadata;
  model.dialect = "gguf";
  model.meta = meta;
  return model;
}

TestMetadata small() {
  TestMetadata metadata = byte_vocabulary({"ab", "<s>", "</s>", "[gap]"}, {"a b"});
  metadata.integers("tokenizer.ggml.token_type")[257] = 3;
  metadata.integers("tokenizer.ggml.token_type")[258] = 3;
  metadata.integers("tokenizer.ggml.token_type")[259] = 5;
  metadata.set_integer("tokenizer.ggml.bos_token_id", 257);
  metadata.set_integer("tokenizer.ggml.eos_token_id", 258);
  metadata.set_bool("tokenizer.ggml.add_bos_token", true);
  return metadata;
}

std::string piece(const mortise_tokenizer& table, void* tokenizer, uint32_t id, uint32_t* flags) {
  mortise_bytes bytes = {};
  REQUIRE(table.piece(nullptr, tokenizer, id, 0, &bytes, flags) == MORTISE_OK);
  return std::string(reinterpret_cast<const char*>(bytes.data), bytes.size);
}

}  // namespace

TEST_CASE("bpe plugin: the part and what it accepts") {
  CHECK(std::string(part().kind) == "tokenizer");
  CHECK(std::string(part().name) == "bpe");
  CHECK(std::string(part().interface_id) == MORTISE_TOKENIZER_ID);
  const auto& table = *static_cast<const mortise_tokenizer*>(part().table);
  mortise_error error = mortise::c_error();
  void* self = nullptr;
  REQUIRE(part().create(nullptr, nullptr, &self, &error) == MORTISE_OK);
  TestMetadata metadata = small();
  mortise_model model = model_of(&metadata);
  CHECK(table.accepts(self, &model, &error) == 100);
  metadata.set("tokenizer.ggml.model", "llama");
  CHECK(table.accepts(self, &model, &error) == 0);
  CHECK(std::string(error.where) == "tokenizer.ggml.model");
  void* tokenizer = nullptr;
  CHECK(table.load(self, &model, &tokenizer, &error) == MORTISE_UNSUPPORTED);
  part().destroy(self);
}

TEST_CASE("bpe plugin: load, encode and pieces through the C calls") {
  const auto& table = *static_cast<const mortise_tokenizer*>(part().table);
  mortise_error error = mortise::c_error();
  TestMetadata metadata = small();
  const mortise_model model = model_of(&metadata);
  void* tokenizer = nullptr;
  REQUIRE(table.load(nullptr, &model, &tokenizer, &error) == MORTISE_OK);
  mortise_vocabulary vocabulary = {};
  vocabulary.size = sizeof(vocabulary);
  table.vocabulary(nullptr, tokenizer, &vocabulary);
  CHECK(vocabulary.count == 260);
  CHECK(vocabulary.bos == 257);
  CHECK(vocabulary.eos == 258);
  CHECK(vocabulary.add_bos == 1);
  CHECK(vocabulary.add_eos == 0);

  const mortise_span spans[] = {{"ab</s>", 6, 1, 0}, {"</s>", 4, 0, 0}};
  const std::vector<uint32_t> expected = {257, 256, 258, '<', '/', 's', '>'};
  std::vector<uint32_t> ids(expected.size() - 1);
  size_t count = 0;
  CHECK(table.encode(nullptr, tokenizer, spans, 2, 1, ids.data(), ids.size(), &count, &error) ==
        MORTISE_LIMIT);
  REQUIRE(count == expected.size());
  ids.resize(count);
  CHECK(table.encode(nullptr, tokenizer, spans, 2, 1, ids.data(), ids.size(), &count, &error) == MORTISE_OK);
  CHECK(ids == expected);

  uint32_t flags = 99;
  CHECK(piece(table, tokenizer, 256, &flags) == "ab");
  CHECK(flags == 0);
  CHECK(piece(table, tokenizer, 257, &flags) == "<s>");
  CHECK(flags == MORTISE_PIECE_CONTROL);
  CHECK(piece(table, tokenizer, 258, &flags) == "</s>");
  CHECK(flags == (MORTISE_PIECE_CONTROL | MORTISE_PIECE_END));
  CHECK(piece(table, tokenizer, 259, &flags).empty());
  CHECK(flags == MORTISE_PIECE_UNUSED);
  mortise_bytes bytes = {};
  CHECK(table.piece(nullptr, tokenizer, 260, 0, &bytes, &flags) == MORTISE_BAD_ARGUMENT);
  table.free_(nullptr, tokenizer);
}
