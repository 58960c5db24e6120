// Decoder-only families as data: a row of facts for each, and in both dialects the names of its tensors and
// metadata keys.
// Thread rule: constants and pure functions. Flow: arch decoder builds its graph from them; tools that
// rewrite a model in the other dialect rename by them.
#pragma once
#include <mortise/weights.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::families {

/// The naming schemes of mortise_model: GGUF's, and that of hub folders ("hf").
enum class Dialect { gguf, hf };

/// How a family differs from the plain decoder (RMS norm before attention and before a gated feed-forward,
/// RoPE in halves); bits.
enum Trait : uint32_t {
  kPermuted = 1,          // GGUF stores the rows of q and k so that RoPE turns neighbours (2i, 2i + 1)
  kPlusOne = 2,           // hf stores the gains of norms less 1; GGUF stores them whole
  kLayerNorm = 4,         // with a bias, instead of RMS norm
  kPositions = 8,         // learned positions instead of RoPE
  kTransposed = 16,       // hf stores the layers' linear weights as [in, out]
  kQkvBias = 32,          // q, k and v always have biases
  kScaledEmbedding = 64,  // times sqrt(hidden)
  kWideNorm = 128,        // q_norm and k_norm run over the whole projection, not over each head
  kExperts = 256,
  kSoftmaxOfChosen = 512,     // router: softmax over the chosen experts' logits, not over all
  kInterleavedGateUp = 1024,  // hf's fused gate_up of the experts: columns gate, up, gate, up, ..
  kMultipliers = 2048,        // of embedding, attention, residual and logits, from the metadata
  kSoftcaps = 4096,           // of scores and logits, from the metadata
  kLocalRope = 8192,          // layers with a window have a RoPE of their own
  kLayerTypes = 16384         // hf's `layer_types` may say which layers have a window
};

/// Which layers have the window, where the metadata does not list them.
enum class Windows {
  none,
  all,
  upper,      // hf use_sliding_window: from max_window_layers on
  lower_odd,  // hf use_sliding_window: of the first max_window_layers every second one
  switched,   // hf use_sliding_window: all
  period_2,   // all but every second one
  period_6,   // all but every sixth one, or another period of the metadata
  without_rope
};

struct Family {
  std::string_view name;        // unique; hf's model_type unless GGUF's is better known
  std::string_view gguf;        // general.architecture
  std::string_view hf;          // model_type; several are separated by '|'
  std::string_view activation;  // of the feed-forward, as the operation mortise.act/1 names it
  Windows windows;
  uint32_t traits;

  bool has(Trait trait) const { return (traits & trait) != 0; }
};

/// A part of a model. Weights; the bias beside one has the name bias_name() makes of the weight's.
enum class Role : uint8_t {
#define MORTISE_ROLE(role, gguf, hf) role,
#include "families/roles.inc"
#undef MORTISE_ROLE
};

/// A number that every family has under some metadata key.
enum class Key : uint8_t {
#define MORTISE_KEY(key, gguf, hf) key,
#include "families/keys.inc"
#undef MORTISE_KEY
};

/// The row for `general.architecture` or `model_type`, or null. GGUF's "llama" stands for two families: the
/// one with experts is that with `has_experts`.
const Family* find_family(Dialect dialect, std::string_view name, bool has_experts = false);
uint64_t family_count();
const Family& family_at(uint64_t index);
/// Names that a dialect's models may have, for messages: "gemma, gemma2, ..".
std::string family_names(Dialect dialect);

/// The names of a role's tensor, with {layer} and {expert}; the first of those that '|' separates is the one
/// to write. Empty: the family has no such tensor.
std::string_view name_template(const Family& family, Dialect dialect, Role role);
/// The parts of a list that '|' separates.
std::vector<std::string_view> choices(std::string_view list);
/// A template with its numbers filled in.
std::string fill(std::string_view name, uint32_t layer, uint32_t expert);
/// "x.weight" -> "x.bias"; a name without that end gets "_bias".
std::string bias_name(std::string_view weight);

/// Does the role name a norm's gain?
bool is_norm(Role role);
/// Do its rows lie in another order in GGUF, where the family has the trait kPermuted? (Within each head, row
/// i + j * dims / 2 of hf is row 2i + j of GGUF.)
bool is_permuted(Role role);
/// Is it stored transposed in hf, where the family has the trait kTransposed?
bool is_transposed(Role role);

/// The metadata key of a number: in GGUF behind "ARCHITECTURE.".
std::string_view key_name(const Family& family, Dialect dialect, Key key);

/// The names under which one model has its tensors: of several possible ones that which is there.
class Names {
 public:
  Names(const mortise_model& model, const Family& family, Dialect dialect);

  /// The name of the tensor that the model has, or the one to miss in an error; empty where the family has
  /// none.
  std::string find(Role role, uint32_t layer = 0, uint32_t expert = 0) const;
  bool has(Role role, uint32_t layer = 0, uint32_t expert = 0) const;
  const mortise_tensor* tensor(std::string_view name) const;

 private:
  const mortise_model& model_;
  const Family& family_;
  Dialect dialect_;
  std::string base_;  // hf: what stands in the place of the family's usual prefix ("model.")
};

}  // namespace mortise::families
