// The files that hold a BPE tokenizer, each read into a pipeline.
// Thread rule: [load]. Flow: an opened model -> load() -> hub::Pipeline.
#pragma once
#include "merges.h"
#include "metadata.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/pre_tokenizer_rows.h"
#include "vocabulary.h"

namespace mortise::bpe {

using hub::Node;
using Loaded = std::unique_ptr<hub::Pipeline>;

/// An error, which says why, where the model holds no tokenizer of ours.
Result<void> check_model(const mortise_model& model);
/// By dialect: GGUF's metadata; of "hf" the blob tokenizer.json, tekken.json or tokenizer.tiktoken, the first
/// that is there.
Result<Loaded> load(const mortise_model& model);

/// An error where metadata holds no byte-level BPE.
Result<void> check_gguf(const Metadata& metadata);
/// The tokenizer.ggml.* keys. Errors name the key, and the entry of an array.
Result<Loaded> load_gguf(const Metadata& metadata);
/// A tokenizer.json whose model is BPE. Errors name the place in the file.
Result<Loaded> load_hub(std::string_view text);
/// An error where a tokenizer.json holds another model than BPE.
Result<void> check_hub(std::string_view text);
/// Lines of base64 and rank. `config`: tokenizer_config.json, or empty; `model_type`: config.json's, or
/// empty.
Result<Loaded> load_tiktoken(std::string_view text, std::string_view config, std::string_view model_type);
/// Mistral's tekken.json. `parse_special`: special tokens are found in trusted text; they aren't in
/// mistral-common.
Result<Loaded> load_tekken(std::string_view text, bool parse_special);

using hub::PreTokenizerRow;
/// The row that tokenizer.ggml.pre names; an unknown name is an error that lists the known ones. An absent
/// key means "default".
Result<const PreTokenizerRow*> find_pre_tokenizer(const Metadata& metadata);

/// Words by a pattern, everything between matches a word too; the model takes their bytes.
Result<hub::PreTokenizer> make_pre_tokenizer(std::string_view pattern);

/// Rules that merge any two neighbours whose texts joined are a token, the lowest id first: what BPE by rank
/// does. The texts are bytes.
Result<std::vector<Rule>> rules_by_rank(const Vocabulary& vocabulary, int32_t first_id);

}  // namespace mortise::bpe
