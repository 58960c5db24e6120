// What a decoder's metadata says: sizes, RoPE, and the family's row.
// Thread rule: plain data. Flow: read from mortise_model before the graph is built.
#pragma once
#include <mortise/cpp/model.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace decoder {

// Limits of what a file may ask for.
constexpr int64_t kLayersMax = 1024;
constexpr int64_t kHiddenMax = 1 << 20;
constexpr int64_t kHeadsMax = 4096;
constexpr int64_t kHeadDimMax = 1024;
constexpr int64_t kContextMax = 1 << 24;

/// How families differ; what they share is in decoder.cc.
struct Family {
  std::string_view name;
  bool is_interleaved;
};

/// The family's row, or null.
const Family* find_family(std::string_view name);
std::string family_names();

struct Hyperparams {
  const Family* family = nullptr;
  uint32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, context = 0;
  uint32_t rope_dims = 0;
  double rope_theta = 10000;  // RoPE base frequency
  double rope_factor = 1;     // linear scaling: positions are divided by it
  double norm_eps = 0;
};

/// Errors name the key.
mortise::Result<Hyperparams> read_hyperparams(const mortise_model& model);

}  // namespace decoder
