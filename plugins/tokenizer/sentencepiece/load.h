// From an opened model to a Model: which file it comes from, and what the metadata adds.
// Thread rule: [load]. Flow: host -> plugin.cc -> here -> Tokenizer::load.
#pragma once
#include <mortise/weights.h>

#include <span>
#include <utility>

#include "model.h"

namespace mortise::sentencepiece {

struct Source {
  Model model;
  bool is_strict = false;  // no two pieces may have the same text
};

/// How sure a tokenizer of this model can be made, to 100, or an error that says why not.
Result<int32_t> accepts_model(const mortise_model& model);

Result<Source> load_model(const mortise_model& model);

// The kinds of source that load_model chooses among.
Result<Source> load_gguf(const mortise_model& model);
Result<Source> load_hub(const mortise_model& model);

/// The metadata's scalar as a boolean or a list of ids; nothing where the key is absent.
Result<bool> meta_flag(const mortise_model& model, std::string_view key, bool fallback);
/// Ids below `count` of a key that holds one integer or several; others are left out.
std::vector<int32_t> meta_ids(const mortise_model& model, std::string_view key, size_t count);

/// Adds the pieces whose names chat templates end a turn with.
void add_known_ends(Model* model);

}  // namespace mortise::sentencepiece
