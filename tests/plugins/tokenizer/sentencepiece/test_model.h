// Models for tests: blobs and metadata made by hand, as a weights plugin would show them.
// Thread rule: single-threaded. Flow: tests -> load_model -> Tokenizer.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "load.h"
#include "tokenizer.h"

namespace mortise::sentencepiece {

class TestModel {
 public:
  explicit TestModel(std::string dialect) : dialect_(std::move(dialect)) {}

  std::map<std::string, std::string, std::less<>> blobs;
  std::string path = "folder";

  void set(const std::string& key, const std::string& text) { strings(key, {text}, false); }
  void set(const std::string& key, int64_t value) { integers(key, {value}, false); }
  void set_flag(const std::string& key, bool value) { integers(key, {value}, false, MORTISE_BOOL); }
  void strings(const std::string& key, std::vector<std::string> texts, bool array = true);
  void integers(const std::string& key, std::vector<int64_t> values, bool array = true,
                mortise_type type = MORTISE_INT);
  void numbers(const std::string& key, std::vector<double> values);
  void remove(const std::string& key) { values_.erase(key); }

  /// Valid while this lives and isn't changed.
  mortise_model c() const;
  Result<std::unique_ptr<Tokenizer>> load() const;
  std::unique_ptr<Tokenizer> must_load() const;

 private:
  struct Value {
    mortise_type type = MORTISE_INT;
    bool array = false;
    std::vector<int64_t> integers;
    std::vector<double> numbers;
    std::vector<std::string> texts;
    std::vector<mortise_str> views;
  };
  static mortise_status meta(void* ctx, mortise_str key, mortise_meta* value);
  static mortise_status blob(void* ctx, mortise_str name, mortise_bytes* bytes);

  std::string dialect_;
  std::map<std::string, Value, std::less<>> values_;
};

struct TestPiece {
  std::string text;
  double score;
  int64_t type;
};

/// Metadata as a converter writes it; `kind`: "llama" or "t5".
TestModel gguf_model(const std::string& kind, const std::vector<TestPiece>& pieces);

/// One field of protobuf's wire format.
std::string varint(uint64_t value);
std::string bytes_field(uint32_t number, const std::string& bytes);
std::string integer_field(uint32_t number, uint64_t value);
std::string piece_field(const TestPiece& piece);
/// A tokenizer.model: `trainer` and `normalizer` are those messages' fields.
std::string model_file(const std::vector<TestPiece>& pieces, const std::string& trainer,
                       const std::string& normalizer = "");
/// A hub folder of that file alone.
TestModel hub_model(const std::string& file);

std::string read_file(const std::string& path);
std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, bool parse_special = true,
                            bool add_special = false);
std::string decode(const Tokenizer& tokenizer, const std::vector<int32_t>& ids);

}  // namespace mortise::sentencepiece
