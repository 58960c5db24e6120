// The model "Unigram" of a tokenizer.json: as SentencePiece's, word by word, with sums of doubles.
// Thread rule: immutable after load, any thread; a scratch serves one thread at a time. Flow: words of the
// pipeline -> ids.
#pragma once
#include <memory>

#include "pieces.h"
#include "tokenizer/json_node.h"
#include "tokenizer/model.h"
#include "trie.h"

namespace mortise::sentencepiece {

class HubUnigram final : public hub::Model {
 public:
  /// `node` is the file's $.model. Errors name the place in the file.
  static Result<std::unique_ptr<HubUnigram>> load(const hub::Node& node);
  /// Builds the trie: of all pieces but these, as a text must not become a special token by its spelling.
  Result<void> finish(const std::vector<int32_t>& specials);

  int32_t size() const override { return pieces_.size(); }
  int32_t find(std::string_view text) const override;
  std::string_view text(int32_t id) const override { return id < size() ? pieces_.text(id) : ""; }
  std::unique_ptr<hub::ModelScratch> make_scratch() const override;
  Result<void> encode(std::string_view word, bool bytes, hub::ModelScratch* scratch,
                      std::vector<int32_t>* ids) const override;

 private:
  struct Scratch;

  Pieces pieces_;
  std::vector<double> scores_;
  Trie trie_;
  double unknown_score_ = 0;
};

}  // namespace mortise::sentencepiece
