// Metadata for tests: made by hand, out of a tokenizer.json, or out of a GGUF file's header.
// Thread rule: single-threaded. Flow: tests -> Tokenizer::load.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bpe_model.h"
#include "load.h"

namespace mortise::bpe {

using hub::Span;
using Tokenizer = hub::Pipeline;

class TestMetadata {
 public:
  void set(const std::string& key, const std::string& text) { set_strings(key, {text}, false); }
  void set_strings(const std::string& key, std::vector<std::string> texts, bool array = true);
  void set_integers(const std::string& key, std::vector<int64_t> values, bool array = true,
                    mortise_type type = MORTISE_INT);
  void set_integer(const std::string& key, int64_t value) { set_integers(key, {value}, false); }
  void set_bool(const std::string& key, bool value) { set_integers(key, {value}, false, MORTISE_BOOL); }
  void remove(const std::string& key) { values_.erase(key); }

  std::vector<std::string>& strings(const std::string& key) { return values_.at(key).texts; }
  std::vector<int64_t>& integers(const std::string& key) { return values_.at(key).integers; }

  /// Valid until the key is set again.
  std::optional<mortise_meta> get(std::string_view key) const;
  Result<std::unique_ptr<Tokenizer>> load() const;
  /// As load(), but a test failure where it fails.
  std::unique_ptr<Tokenizer> must_load() const;

 private:
  struct Value {
    mortise_type type = MORTISE_INT;
    bool array = false;
    std::vector<int64_t> integers;
    std::vector<std::string> texts;
    mutable std::vector<mortise_str> views;
  };

  std::map<std::string, Value, std::less<>> values_;
};

std::string read_file(const std::string& path);
/// A file below tests/data.
std::string data_path(const std::string& name);

/// What a converter would write for a hub tokenizer; `pre` is the value of tokenizer.ggml.pre.
TestMetadata from_tokenizer_json(const std::string& path, const std::string& pre);
/// The tokenizer.* keys of a GGUF file.
TestMetadata from_gguf(const std::string& path);
/// The 256 bytes as tokens 0 to 255, then `more`, with `merges`; pre-tokenizer gpt-2, no special tokens.
TestMetadata byte_vocabulary(const std::vector<std::string>& more = {},
                             const std::vector<std::string>& merges = {});

/// The path of a real model, or "" where it wasn't fetched: MORTISE_MODELS, else models/ of the source tree.
std::string model_path(const std::string& name);

inline const Vocabulary& vocabulary_of(const Tokenizer& tokenizer) {
  return static_cast<const BpeModel&>(tokenizer.model()).vocabulary();
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, bool parse_special = true,
                            bool add_special = false);
std::string decode(const Tokenizer& tokenizer, const std::vector<int32_t>& ids);

}  // namespace mortise::bpe
