// See test_metadata.h. Thread rule: single-threaded. Flow: linked by every test of this folder.
#include "test_metadata.h"

#include <mortise/cpp/reader.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tokenizer/byte_alphabet.h"

namespace mortise::bpe {

void TestMetadata::set_strings(const std::string& key, std::vector<std::string> texts, bool array) {
  Value& value = values_[key] = Value();
  value.type = MORTISE_STRING;
  value.array = array;
  value.texts = std::move(texts);
}

void TestMetadata::set_integers(const std::string& key, std::vector<int64_t> integers, bool array,
                                mortise_type type) {
  Value& value = values_[key] = Value();
  value.type = type;
  value.array = array;
  value.integers = std::move(integers);
}

std::optional<mortise_meta> TestMetadata::get(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  const Value& value = found->second;
  const bool text = value.type == MORTISE_STRING;
  value.views.clear();
  for (const std::string& one : value.texts) value.views.push_back(str(one));
  const void* data = text ? static_cast<const void*>(value.views.data()) : value.integers.data();
  return mortise_meta{static_cast<uint32_t>(value.type), value.array,
                      text ? value.texts.size() : value.integers.size(), data};
}

Result<std::unique_ptr<Tokenizer>> TestMetadata::load() const {
  return load_gguf(Metadata([this](std::string_view key) { return get(key); }));
}

std::unique_ptr<Tokenizer> TestMetadata::must_load() const {
  auto loaded = load();
  if (!loaded) FAIL(loaded.error().text());
  return std::move(*loaded);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("can't read " + path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

std::string data_path(const std::string& name) { return std::string(MORTISE_TEST_DATA) + "/" + name; }

TestMetadata from_tokenizer_json(const std::string& path, const std::string& pre) {
  const auto json = nlohmann::json::parse(read_file(path));
  const auto& model = json.at("model");
  std::map<int64_t, std::pair<std::string, int64_t>> tokens;  // id -> text, type
  for (const auto& [text, id] : model.at("vocab").items()) tokens[id.get<int64_t>()] = {text, 1};
  for (const auto& added : json.at("added_tokens"))
    tokens[added.at("id")] = {added.at("content"), added.at("special").get<bool>() ? 3 : 4};
  std::vector<std::string> texts;
  std::vector<int64_t> types;
  for (int64_t id = 0; id <= tokens.rbegin()->first; ++id) {
    const auto found = tokens.find(id);
    texts.push_back(found == tokens.end() ? "[PAD" + std::to_string(id) + "]" : found->second.first);
    types.push_back(found == tokens.end() ? 5 : found->second.second);
  }
  std::vector<std::string> merges;
  for (const auto& pair : model.at("merges"))
    merges.push_back(pair.at(0).get<std::string>() + " " + pair.at(1).get<std::string>());
  TestMetadata out;
  out.set("tokenizer.ggml.model", "gpt2");
  out.set("tokenizer.ggml.pre", pre);
  out.set_strings("tokenizer.ggml.tokens", std::move(texts));
  out.set_integers("tokenizer.ggml.token_type", std::move(types));
  out.set_strings("tokenizer.ggml.merges", std::move(merges));
  return out;
}

TestMetadata byte_vocabulary(const std::vector<std::string>& more, const std::vector<std::string>& merges) {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    mortise::hub::append_spelling(std::string_view(&one, 1), &texts.emplace_back());
  }
  texts.insert(texts.end(), more.begin(), more.end());
  TestMetadata out;
  out.set("tokenizer.ggml.model", "gpt2");
  out.set("tokenizer.ggml.pre", "gpt-2");
  out.set_integers("tokenizer.ggml.token_type", std::vector<int64_t>(texts.size(), 1));
  out.set_strings("tokenizer.ggml.tokens", std::move(texts));
  out.set_strings("tokenizer.ggml.merges", merges);
  return out;
}

namespace {

// GGUF's types by number: their widths, 0 for strings (8) and arrays (9).
constexpr size_t kWidths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

Result<std::string> gguf_string(Reader* reader) {
  MORTISE_TRY(size, reader->read<uint64_t>("size"));
  MORTISE_TRY(text, reader->take(size, "string"));
  return std::string(text);
}

Result<int64_t> gguf_integer(Reader* reader, uint32_t type) {
  if (type >= std::size(kWidths)) return reader->bad("unknown type");
  MORTISE_TRY(bytes, reader->take(kWidths[type], "value"));
  int64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  if (type == 5) value = static_cast<int32_t>(value);
  return value;
}

Result<void> gguf_value(Reader* reader, const std::string& key, TestMetadata* out) {
  MORTISE_TRY(outer, reader->read<uint32_t>("type"));
  uint32_t type = outer;
  uint64_t count = 1;
  if (outer == 9) {
    MORTISE_TRY(inner, reader->read<uint32_t>("element type"));
    MORTISE_TRY(elements, reader->read<uint64_t>("count"));
    type = inner;
    count = elements;
  }
  std::vector<std::string> texts;
  std::vector<int64_t> integers;
  for (uint64_t i = 0; i < count; ++i) {
    if (type == 8) {
      MORTISE_TRY(text, gguf_string(reader));
      texts.push_back(text);
    } else {
      MORTISE_TRY(integer, gguf_integer(reader, type));
      integers.push_back(integer);
    }
  }
  if (type == 8)
    out->set_strings(key, std::move(texts), outer == 9);
  else
    out->set_integers(key, std::move(integers), outer == 9, type == 7 ? MORTISE_BOOL : MORTISE_INT);
  return {};
}

Result<TestMetadata> gguf_metadata(Reader* reader) {
  TestMetadata out;
  MORTISE_CHECK(reader->seek(16, "counts"));
  MORTISE_TRY(count, reader->read<uint64_t>("count"));
  for (uint64_t i = 0; i < count; ++i) {
    MORTISE_TRY(key, gguf_string(reader));
    MORTISE_CHECK(gguf_value(reader, key, &out));
  }
  return out;
}

}  // namespace

TestMetadata from_gguf(const std::string& path) {
  constexpr size_t kHeaderBytes = size_t{16} << 20;  // the headers of the models at hand are smaller
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeaderBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  Reader reader(reinterpret_cast<const uint8_t*>(head.data()), static_cast<uint64_t>(file.gcount()), path);
  auto out = gguf_metadata(&reader);
  if (!out) FAIL(out.error().text());
  return std::move(*out);
}

std::string model_path(const std::string& name) {
  const char* folder = std::getenv("MORTISE_MODELS");
  const std::string path =
      (folder != nullptr ? std::string(folder) : std::string(MORTISE_TEST_SOURCE) + "/models") + "/" + name;
  return std::ifstream(path).good() ? path : "";
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, bool parse_special,
                            bool add_special) {
  std::vector<int32_t> ids;
  const Span span{text, parse_special};
  const auto done = tokenizer.encode(std::span(&span, 1), add_special, &ids);
  if (!done) FAIL(done.error().text());
  return ids;
}

std::string decode(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string out;
  for (const int32_t id : ids) out += tokenizer.bytes(id, false);
  return out;
}

}  // namespace mortise::bpe
