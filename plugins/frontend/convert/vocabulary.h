// A model's vocabulary between the dialects: read from one, written to the other.
// Thread rule: plain values. Flow: read once when a conversion changes the dialect, then written as metadata
// (gguf) or as tokenizer files (hf).
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/weights.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "meta_list.h"
#include "tokenizer/post_processor.h"

namespace mortise::convert {

constexpr int64_t kTokensMax = int64_t{1} << 24;  // of a vocabulary that is carried over

/// Kinds of token, numbered as SentencePiece's model and GGUF number them.
enum class TokenType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Token {
  std::string text;  ///< of byte-level BPE: in its alphabet, but control and user-defined ones as they read
  double score = 0;  ///< SentencePiece's
  TokenType type = TokenType::normal;
};

struct Vocabulary {
  enum class Kind { byte_level_bpe, sentencepiece_bpe, unigram };
  Kind kind = Kind::byte_level_bpe;
  std::vector<Token> tokens;        ///< by id
  std::vector<std::string> merges;  ///< byte-level BPE: "left right", by rank
  std::string pre_tokenizer;        ///< byte-level BPE: as tokenizer.ggml.pre names it
  int64_t bos = -1, eos = -1, unknown = -1, padding = -1, end_of_turn = -1;
  std::optional<bool> add_bos, add_eos;
  bool add_space_prefix = true;           ///< SentencePiece
  bool removes_extra_whitespace = false;  ///< SentencePiece
  std::string charsmap;                   ///< SentencePiece: precompiled normalization
  std::string chat_template;
};

/// Of a model of dialect "gguf". Errors name the key.
Result<Vocabulary> read_gguf_vocabulary(const mortise_model& model);
/// Of a model of dialect "hf"; nothing where it has no tokenizer. Errors name the file.
Result<std::optional<Vocabulary>> read_hub_vocabulary(const mortise_model& model);

/// BOS, and whether BOS and EOS are added, out of a tokenizer.json's post-processor; UNSUPPORTED where it
/// adds more than those.
Result<void> settle_hub_adds(const hub::Frame& frame, Vocabulary* out);
/// What readers of a GGUF take absent flags for.
void settle_gguf_adds(Vocabulary* out);

/// tokenizer.ggml.* keys.
void add_gguf_vocabulary(const Vocabulary& vocabulary, MetaList* out);
/// Files of a hub folder, by name: tokenizer.json or tokenizer.model, tokenizer_config.json.
/// UNSUPPORTED where the pre-tokenizer is one that no row of pre_tokenizers.inc writes.
Result<std::map<std::string, std::string>> hub_tokenizer_files(const Vocabulary& vocabulary, int64_t context);
/// generation_config.json: the tokens that begin and end an answer.
std::string generation_config(const Vocabulary& vocabulary);

}  // namespace mortise::convert
