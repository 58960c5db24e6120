// The plugin as the host meets it: the shared object, its manifest's part and the C calls.
// Thread rule: single-threaded. Flow: run by CTest.
#include <dlfcn.h>
#include <mortise/plugin.h>
#include <mortise/tokenizer.h>

#include <catch2/catch.hpp>

#include "test_model.h"

using namespace mortise::sentencepiece;

namespace {

const mortise_part& part() {
  void* library = dlopen(SENTENCEPIECE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* entry = reinterpret_cast<mortise_plugin_entry*>(dlsym(library, MORTISE_ENTRY_NAME));
  REQUIRE(entry != nullptr);
  REQUIRE(entry()->part_count == 1);
  return *entry()->parts[0];
}

// 0 unk, 1 bos, 2 eos, 3 nothing, then text.
TestModel small() {
  TestModel model = gguf_model("llama", {{"<unk>", 0, 2},
                                         {"<s>", 0, 3},
                                         {"</s>", 0, 3},
                                         {"[gap]", 0, 5},
                                         {"\u2581a", -1, 1},
                                         {"\u2581", -2, 1},
                                         {"a", -2, 1},
                                         {"<", -2, 1},
                                         {"s", -2, 1},
                                         {">", -2, 1}});
  model.set("tokenizer.ggml.bos_token_id", 1);
  model.set("tokenizer.ggml.eos_token_id", 2);
  return model;
}

std::string piece(const mortise_tokenizer& table, void* tokenizer, uint32_t id, int32_t first,
                  uint32_t* flags) {
  mortise_bytes bytes = {};
  REQUIRE(table.piece(nullptr, tokenizer, id, first, &bytes, flags) == MORTISE_OK);
  return std::string(reinterpret_cast<const char*>(bytes.data), bytes.size);
}

}  // namespace

TEST_CASE("sentencepiece plugin: the part and what it accepts") {
  CHECK(std::string(part().kind) == "tokenizer");
  CHECK(std::string(part().name) == "sentencepiece");
  CHECK(std::string(part().interface_id) == MORTISE_TOKENIZER_ID);
  const auto& table = *static_cast<const mortise_tokenizer*>(part().table);
  mortise_error error = mortise::c_error();
  void* self = nullptr;
  REQUIRE(part().create(nullptr, nullptr, &self, &error) == MORTISE_OK);
  TestModel model = small();
  mortise_model c = model.c();
  CHECK(table.accepts(self, &c, &error) == 100);
  model.set("tokenizer.ggml.model", "t5");
  CHECK(table.accepts(self, &c, &error) == 100);
  model.set("tokenizer.ggml.model", "gpt2");
  CHECK(table.accepts(self, &c, &error) == 0);
  CHECK(std::string(error.where) == "tokenizer.ggml.model");
  void* tokenizer = nullptr;
  CHECK(table.load(self, &c, &tokenizer, &error) == MORTISE_UNSUPPORTED);
  const TestModel folder = hub_model("");
  const TestModel empty("hf");
  c = folder.c();
  CHECK(table.accepts(self, &c, &error) == 90);
  CHECK(table.load(self, &c, &tokenizer, &error) == MORTISE_BAD_DATA);
  c = empty.c();
  CHECK(table.accepts(self, &c, &error) == 0);
  part().destroy(self);
}

TEST_CASE("sentencepiece plugin: load, encode and pieces through the C calls") {
  const auto& table = *static_cast<const mortise_tokenizer*>(part().table);
  mortise_error error = mortise::c_error();
  const TestModel model = small();
  const mortise_model c = model.c();
  void* tokenizer = nullptr;
  REQUIRE(table.load(nullptr, &c, &tokenizer, &error) == MORTISE_OK);
  mortise_vocabulary vocabulary = {};
  vocabulary.size = sizeof(vocabulary);
  table.vocabulary(nullptr, tokenizer, &vocabulary);
  CHECK(vocabulary.count == 10);
  CHECK(vocabulary.bos == 1);
  CHECK(vocabulary.eos == 2);
  CHECK(vocabulary.add_bos == 1);
  CHECK(vocabulary.add_eos == 0);

  const mortise_span spans[] = {{"a</s>", 5, 1, 0}, {"<s>", 3, 0, 0}};
  const std::vector<uint32_t> expected = {1, 4, 2, 7, 8, 9};
  std::vector<uint32_t> ids(expected.size() - 1);
  size_t count = 0;
  CHECK(table.encode(nullptr, tokenizer, spans, 2, 1, ids.data(), ids.size(), &count, &error) ==
        MORTISE_LIMIT);
  REQUIRE(count == expected.size());
  ids.resize(count);
  CHECK(table.encode(nullptr, tokenizer, spans, 2, 1, ids.data(), ids.size(), &count, &error) == MORTISE_OK);
  CHECK(ids == expected);

  uint32_t flags = 99;
  CHECK(piece(table, tokenizer, 4, 0, &flags) == " a");
  CHECK(flags == 0);
  CHECK(piece(table, tokenizer, 4, 1, &flags) == "a");
  CHECK(piece(table, tokenizer, 1, 1, &flags) == "<s>");
  CHECK(flags == MORTISE_PIECE_CONTROL);
  CHECK(piece(table, tokenizer, 2, 0, &flags) == "</s>");
  CHECK(flags == (MORTISE_PIECE_CONTROL | MORTISE_PIECE_END));
  piece(table, tokenizer, 3, 0, &flags);
  CHECK(flags == MORTISE_PIECE_UNUSED);
  mortise_bytes bytes = {};
  CHECK(table.piece(nullptr, tokenizer, 10, 0, &bytes, &flags) == MORTISE_BAD_ARGUMENT);
  const std::string long_text((16 << 20) + 1, 'a');
  const mortise_span too_long = {long_text.data(), long_text.size(), 0, 0};
  CHECK(table.encode(nullptr, tokenizer, &too_long, 1, 0, ids.data(), ids.size(), &count, &error) ==
        MORTISE_LIMIT);
  table.free_(nullptr, tokenizer);
}
