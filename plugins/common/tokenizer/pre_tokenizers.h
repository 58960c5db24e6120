// The pre-tokenizers of a tokenizer.json: they cut text into the words that the model encodes.
// Thread rule: immutable after load, any thread. Flow: normalized text -> PreTokenizer -> words -> Model.
#pragma once
#include <memory>
#include <vector>

#include "tokenizer/json_node.h"
#include "tokenizer/pieces.h"

namespace mortise::hub {

/// One step over all pieces of a text.
class SplitStep {
 public:
  virtual ~SplitStep() = default;
  virtual Result<void> run(Pieces* pieces, MatchScratch* scratch) const = 0;
};

class PreTokenizer {
 public:
  /// Reads $.pre_tokenizer; null or absent: the text is one word. An unknown type is an error.
  /// `model_takes_bytes`: the model needs no spelling of bytes where that is the last step.
  static Result<PreTokenizer> load(const Node& root, bool model_takes_bytes);

  void add(std::unique_ptr<SplitStep> step) { steps_.push_back(std::move(step)); }
  void set_bytes() { bytes_ = true; }
  /// True where words are bytes that the model is to take as they are.
  bool bytes() const { return bytes_; }
  Result<void> run(Pieces* pieces, MatchScratch* scratch) const {
    for (const auto& step : steps_) MORTISE_CHECK(step->run(pieces, scratch));
    return {};
  }

 private:
  Result<void> add_parts(const Node& node);

  std::vector<std::unique_ptr<SplitStep>> steps_;
  bool bytes_ = false;
};

/// A Split by a pattern.
std::unique_ptr<SplitStep> make_split(Pattern pattern, SplitBehavior behavior, bool invert);
/// GPT-2's own pattern, as ByteLevel with use_regex has it.
Result<Pattern> gpt2_pattern();

}  // namespace mortise::hub
