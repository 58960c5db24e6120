// From an opened model to a Model: which file it comes from, and what the metadata adds.
// Thread rule: [load]. Flow: host -> plugin.cc -> here -> Tokenizer::load.
#pragma once
#include <mortise/weights.h>

#include <memory>
#include <optional>

#include "sentencepiece/hub_model.h"
#include "tokenizer/pipeline.h"

namespace mortise::sentencepiece {

/// How sure a tokenizer of this model can be made, to 100, or an error that says why not.
Result<int32_t> accepts_model(const mortise_model& model);

/// A GGUF, or a folder's tokenizer.model.
Result<Source> load_model(const mortise_model& model);

/// The dialect is that of hub folders.
bool is_hub(const mortise_model& model);
/// The model's tokenizer.json, where its model is Unigram.
std::optional<std::string_view> unigram_json(const mortise_model& model);
Result<std::unique_ptr<hub::Pipeline>> load_json(std::string_view text, const mortise_model& model);

/// A GGUF alone.
Result<Source> load_gguf(const mortise_model& model);

/// A boolean of the metadata, or an error where the key holds something else.
Result<bool> meta_flag(const mortise_model& model, std::string_view key, bool fallback);

}  // namespace mortise::sentencepiece
