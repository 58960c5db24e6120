// What a decoder's metadata says, whichever dialect it speaks: sizes, RoPE, windows, experts, multipliers.
// Thread rule: plain data. Flow: read from mortise_model; arch decoder builds its graph from it, and tools
// that rewrite a model write it down in the other dialect.
#pragma once
#include <mortise/cpp/model.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "families/families.h"
#include "families/rope.h"

namespace mortise::families {

// Limits of what a file may ask for.
constexpr int64_t kLayersMax = 1024;
constexpr int64_t kHiddenMax = 1 << 20;
constexpr int64_t kHeadsMax = 4096;
constexpr int64_t kHeadDimMax = 1024;
constexpr int64_t kContextMax = 1 << 24;
constexpr int64_t kExpertsMax = 1024;

struct Layer {
  bool has_window = false;
  bool has_rope = true;
  bool has_experts = false;  // where the metadata says; a GGUF's tensors do
};

struct Hyperparams {
  const Family* family = nullptr;
  Dialect dialect = Dialect::gguf;
  std::string name;  // of the architecture, as the model writes it
  uint32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0;
  uint32_t context = 0;    // tokens, as trained
  uint32_t rope_dims = 0;  // rotated columns of each head
  double norm_eps = 0;
  std::string_view activation;  // "silu", "gelu", "gelu_tanh", "relu", "relu2"
  Rope rope, local_rope;        // the second: of layers with a window, where the family has one (kLocalRope)
  uint32_t window = 0;          // tokens that a position of a layer with a window sees; 0: no layer has one
  std::vector<Layer> layer;     // [layers]
  double embedding_scale = 1;   // multiplies the embedding's rows
  double residual_scale = 1;    // multiplies what a block adds to the residual stream
  double attention_scale = 0;   // multiplies q * k
  double logit_scale = 1;       // multiplies the logits
  double attention_softcap = 0, logit_softcap = 0;  // 0: none
  bool is_tied = false;                             // the metadata says that the head is the embedding; hf
  bool is_parallel = false;                         // attention and feed-forward read the same norm
  bool has_qkv_bias = false, has_output_bias = false, has_ffn_bias = false;  // must be there; else may be
  uint32_t experts = 0, experts_used = 0;
  bool is_softmax_of_chosen = false, is_renormalized = false;  // the router's
  double router_scale = 1;
  double swiglu_alpha = 0, swiglu_limit = 0;  // of the clamped SwiGLU; 0: the plain one
};

/// Reads a model of a known dialect and family. Errors name the key: missing, of another type, out of range,
/// of a meaning that is not known here.
Result<Hyperparams> read_hyperparams(const mortise_model& model);

/// Do the model's dialect and architecture belong to a family? An error names what is known.
Result<void> check_known(const mortise_model& model);

}  // namespace mortise::families
