// The parts of read_hyperparams: what both dialects share, and one reader for each.
// Thread rule: [load]. Flow: hyperparams.cc finds the family, then calls the dialect's reader.
#pragma once
#include <string>
#include <string_view>

#include "families/hyperparams.h"

namespace mortise::families {

/// A model's metadata, with the names that its family gives to keys.
struct Source {
  Metadata meta;
  const mortise_model& model;
  const Family& family;
  Dialect dialect;
  std::string prefix;  // of every key: "llama." in GGUF; "" or "text_config." in hf

  std::string key(std::string_view name) const { return prefix + std::string(name); }
  std::string key(Key key) const { return prefix + std::string(key_name(family, dialect, key)); }
};

/// A key that must not change the computation: what it says here, and which families read it (or "").
struct Fixed {
  std::string_view key;
  double value;
  std::string_view except;  // family names, separated by '|'
};

/// Errors: a key of the table is there, the family does not read it, and it says something else.
Result<void> check_fixed(const Source& source, const Fixed* table, size_t count);

/// Errors: the first layer has a tensor that has a role in another family and none in this one.
Result<void> check_tensors(const Source& source);

/// A number in [1e-30, 1e30], whose inverse a float holds too; `fallback` where absent.
Result<double> positive(const Source& source, const std::string& key,
                        std::optional<double> fallback = std::nullopt);

/// layers, hidden, heads, kv_heads, head_dim, context, norm_eps; `head_dim` is the default of the last but
/// two, 0: hidden / heads.
Result<void> read_sizes(const Source& source, int64_t head_dim, Hyperparams* out);

Result<void> read_gguf(const Source& source, Hyperparams* out);
Result<void> read_hf(const Source& source, Hyperparams* out);

/// hf's RoPE of one kind of layers, "full_attention" or "sliding_attention"; sets rope_dims too.
Result<Rope> read_hf_rope(const Source& source, std::string_view layer_type, Hyperparams* out);

}  // namespace mortise::families
