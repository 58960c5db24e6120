// See test_model.h. Thread rule: single-threaded. Flow: linked by every test of this folder.
#include "test_model.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <sstream>

namespace mortise::sentencepiece {

void TestModel::strings(const std::string& key, std::vector<std::string> texts, bool array) {
  Value& value = values_[key] = Value();
  value.type = MORTISE_STRING;
  value.array = array;
  value.texts = std::move(texts);
  for (const std::string& text : value.texts) value.views.push_back(str(text));
}

void TestModel::integers(const std::string& key, std::vector<int64_t> integers, bool array,
                         mortise_type type) {
  Value& value = values_[key] = Value();
  value.type = type;
  value.array = array;
  value.integers = std::move(integers);
}

void TestModel::numbers(const std::string& key, std::vector<double> numbers) {
  Value& value = values_[key] = Value();
  value.type = MORTISE_FLOAT;
  value.array = true;
  value.numbers = std::move(numbers);
}

mortise_status TestModel::meta(void* ctx, mortise_str key, mortise_meta* out) {
  const auto& values = static_cast<const TestModel*>(ctx)->values_;
  const auto found = values.find(view(key));
  if (found == values.end()) return MORTISE_NOT_FOUND;
  const Value& value = found->second;
  *out = {static_cast<uint32_t>(value.type), value.array, value.integers.size(), value.integers.data()};
  if (value.type == MORTISE_STRING) out->count = value.views.size(), out->data = value.views.data();
  if (value.type == MORTISE_FLOAT) out->count = value.numbers.size(), out->data = value.numbers.data();
  return MORTISE_OK;
}

mortise_status TestModel::blob(void* ctx, mortise_str name, mortise_bytes* bytes) {
  const auto& blobs = static_cast<const TestModel*>(ctx)->blobs;
  const auto found = blobs.find(view(name));
  if (found == blobs.end()) return MORTISE_NOT_FOUND;
  *bytes = {reinterpret_cast<const uint8_t*>(found->second.data()), found->second.size()};
  return MORTISE_OK;
}

mortise_model TestModel::c() const {
  mortise_model model = {};
  model.size = sizeof(model);
  model.ctx = const_cast<TestModel*>(this);
  model.path = str(path);
  model.dialect = dialect_.c_str();
  model.meta = meta;
  model.blob = blob;
  return model;
}

Result<std::unique_ptr<Tokenizer>> TestModel::load() const {
  MORTISE_TRY(source, load_model(c()));
  return Tokenizer::load(std::move(source.model), source.is_strict);
}

std::unique_ptr<Tokenizer> TestModel::must_load() const {
  auto loaded = load();
  if (!loaded) FAIL(loaded.error().text());
  return std::move(*loaded);
}

TestModel gguf_model(const std::string& kind, const std::vector<TestPiece>& pieces) {
  std::vector<std::string> texts;
  std::vector<double> scores;
  std::vector<int64_t> types;
  for (const TestPiece& piece : pieces) {
    texts.push_back(piece.text);
    scores.push_back(piece.score);
    types.push_back(piece.type);
  }
  TestModel out("gguf");
  out.set("tokenizer.ggml.model", kind);
  out.strings("tokenizer.ggml.tokens", std::move(texts));
  out.numbers("tokenizer.ggml.scores", std::move(scores));
  out.integers("tokenizer.ggml.token_type", std::move(types));
  return out;
}

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

std::string bytes_field(uint32_t number, const std::string& bytes) {
  return varint(uint64_t{number} << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string integer_field(uint32_t number, uint64_t value) {
  return varint(uint64_t{number} << 3) + varint(value);
}

std::string piece_field(const TestPiece& piece) {
  const auto score = static_cast<float>(piece.score);
  std::string bits(sizeof(score), '\0');
  std::memcpy(bits.data(), &score, sizeof(score));
  return bytes_field(1, bytes_field(1, piece.text) + varint(2 << 3 | 5) + bits +
                            integer_field(3, static_cast<uint64_t>(piece.type)));
}

std::string model_file(const std::vector<TestPiece>& pieces, const std::string& trainer,
                       const std::string& normalizer) {
  std::string out;
  for (const TestPiece& piece : pieces) out += piece_field(piece);
  return out + bytes_field(2, trainer) + bytes_field(3, normalizer);
}

TestModel hub_model(const std::string& file) {
  TestModel out("hf");
  out.blobs["tokenizer.model"] = file;
  return out;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("can't read " + path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
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
  bool first = true;
  for (const int32_t id : ids) {
    out += tokenizer.bytes(id, first);
    first = false;
  }
  return out;
}

}  // namespace mortise::sentencepiece
