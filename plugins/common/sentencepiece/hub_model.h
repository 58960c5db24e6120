// A hub folder's SentencePiece model: tokenizer.model, and what the folder's configs add to it.
// Thread rule: [load]. Flow: blobs of the model -> Source -> a tokenizer, or a conversion.
#pragma once
#include <mortise/weights.h>

#include <optional>

#include "sentencepiece/model.h"

namespace mortise::sentencepiece {

struct Source {
  Model model;
  bool is_strict = false;  // no two pieces may have the same text
};

/// A companion file of the model.
std::optional<std::string_view> blob(const mortise_model& model, std::string_view name);
Result<Source> load_hub(const mortise_model& model);

}  // namespace mortise::sentencepiece
