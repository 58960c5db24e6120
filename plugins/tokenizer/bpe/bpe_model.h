// The BPE model: symbols of a word are merged by the rules.
// Thread rule: immutable after load, any thread. Flow: words of the pipeline -> ids.
#pragma once
#include <string>

#include "merges.h"
#include "vocabulary.h"

namespace mortise::bpe {

/// What the model of a file asks for beside tokens and merges.
struct BpeOptions {
  Spelling spelling = Spelling::alphabet;
  bool whole_words = false;    ///< a word that is a token is taken as it is (ignore_merges)
  bool byte_fallback = false;  ///< a character without a token becomes the tokens <0xNN> of its bytes
  bool fuse_unknown = false;   ///< neighbouring unknown characters become one token
  int32_t unknown = kNoToken;  ///< kNoToken: characters without a token are left out
  std::string prefix;          ///< before all characters of a word but its first
  std::string suffix;          ///< behind the last character of a word
};

class BpeModel final : public hub::Model {
 public:
  BpeModel(Vocabulary vocabulary, MergeTable merges, BpeOptions options);

  /// Ids that no word becomes as a whole: special tokens, as a text must not become one by its spelling.
  void forbid_whole(int32_t id);

  int32_t size() const override { return vocabulary_.size(); }
  int32_t find(std::string_view text) const override { return vocabulary_.find(text); }
  std::string_view text(int32_t id) const override { return id < size() ? vocabulary_.text(id) : ""; }
  bool takes_bytes() const override;
  std::unique_ptr<hub::ModelScratch> make_scratch() const override;
  Result<void> encode(std::string_view word, bool bytes, hub::ModelScratch* scratch,
                      std::vector<int32_t>* ids) const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  struct Scratch;

  int32_t whole_word(std::string_view word, bool bytes, Scratch* scratch) const;
  void byte_symbols(std::string_view word, std::vector<int32_t>* symbols) const;
  void char_symbols(std::string_view word, Scratch* scratch) const;
  bool append_byte_tokens(std::string_view text, std::vector<int32_t>* symbols) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  BpeOptions options_;
  std::array<int32_t, 256> fallback_{};  // the tokens <0x00> to <0xFF>
  std::array<int32_t, 128> ascii_{};     // of single characters
  std::vector<bool> forbidden_;          // by id, as far as there are any
};

}  // namespace mortise::bpe
