// The single ids of a hub folder: BOS, EOS, and what ends a generation, out of its configuration files.
// Thread rule: [load]. Flow: metadata of dialect "hf" -> SpecialIds -> the pipeline.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/weights.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/model.h"

namespace mortise::hub {

struct SpecialIds {
  int32_t bos = kNoToken;
  int32_t eos = kNoToken;
  std::vector<int32_t> ends;    // sorted; a generation is over behind one of them
  std::optional<bool> add_bos;  // what tokenizer_config.json says
  std::optional<bool> add_eos;
};

/// Looks up a token by its text, kNoToken where there is none.
using FindToken = std::function<int32_t(std::string_view text)>;

/// Names of tokens that end a turn in known families.
std::vector<std::string_view> turn_ends(const FindToken& find_special);

/// Reads tokenizer_config (bos_token, eos_token, add_bos_token, add_eos_token), config and generation_config
/// (bos_token_id, eos_token_id: a number or a list). Ids outside the vocabulary count for nothing, as models
/// carry stale ones. `find_special` knows special tokens only.
SpecialIds load_special_ids(const mortise_model& model, int32_t token_count, const FindToken& find,
                            const FindToken& find_special);

}  // namespace mortise::hub
