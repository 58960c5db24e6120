// The decoders of a tokenizer.json: a token's text becomes bytes of output.
// Thread rule: immutable after load, any thread. Flow: load time only: the pipeline decodes every token once,
// as first of a text and as a later one, so that streaming is a look-up.
//
// That is the same as decoding a whole text, but where a file's rules look at the text as a whole: runs of
// byte tokens that aren't UTF-8 are repaired by the reader of the bytes.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/json_node.h"
#include "tokenizer/pattern.h"

namespace mortise::hub {

class DecoderStep {
 public:
  virtual ~DecoderStep() = default;
  /// `first`: the token begins the text.
  virtual Result<void> run(std::string* token, bool first, MatchScratch* scratch) const = 0;
};

class Decoder {
 public:
  /// Reads $.decoder. Null or absent: tokens with blanks between them. An unknown type is an error, and so is
  /// one that needs to know the end of the text.
  static Result<Decoder> load(const Node& root);
  /// The decoder of byte-level vocabularies.
  static Decoder byte_level();

  void add(std::unique_ptr<DecoderStep> step) { steps_.push_back(std::move(step)); }
  Result<void> run(std::string* token, bool first, MatchScratch* scratch) const;

 private:
  Result<void> add_parts(const Node& node);

  std::vector<std::unique_ptr<DecoderStep>> steps_;
  bool fused_ = false;  // steps from here on see the text as one
};

}  // namespace mortise::hub
