// What differs from tokenizer to tokenizer: a word becomes ids. All else is the pipeline's.
// Thread rule: immutable after load, any thread; a ModelScratch serves one thread at a time.
// Flow: pipeline -> words -> Model -> ids.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace mortise::hub {

constexpr int32_t kNoToken = -1;

/// What a model's encode() keeps from word to word.
class ModelScratch {
 public:
  virtual ~ModelScratch() = default;
};

class Model {
 public:
  virtual ~Model() = default;

  /// Ids below size() are the model's own; find() and text() know nothing of added tokens.
  virtual int32_t size() const = 0;
  virtual int32_t find(std::string_view text) const = 0;  ///< kNoToken where there is none
  /// The token as the file spells it; empty where there is no such id.
  virtual std::string_view text(int32_t id) const = 0;

  /// True where encode() can take the bytes of a word instead of their spelling in the byte alphabet.
  virtual bool takes_bytes() const { return false; }
  /// May be null.
  virtual std::unique_ptr<ModelScratch> make_scratch() const { return nullptr; }
  /// Appends the ids of one word, which isn't empty. `bytes`: the word is bytes of any kind, each of which
  /// stands for its character of the byte alphabet (only where takes_bytes()); otherwise it is valid UTF-8.
  virtual Result<void> encode(std::string_view word, bool bytes, ModelScratch* scratch,
                              std::vector<int32_t>* ids) const = 0;
};

}  // namespace mortise::hub
