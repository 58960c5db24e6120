// Rotary position embeddings: what a model's metadata says of them, and the frequencies that follow.
// Thread rule: plain data and pure functions. Flow: read with the hyperparameters, turned into a table's
// attributes when the graph is built.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::families {

enum class RopeKind { plain, linear, dynamic, yarn, longrope, llama3 };

struct Rope {
  RopeKind kind = RopeKind::plain;
  double theta = 10000;                              // base
  double factor = 1;                                 // by which scaling stretches the context
  double original_context = 0;                       // tokens, before scaling
  double attention_factor = 0;                       // of cos and sin; 0: what the kind says
  double beta_fast = 32, beta_slow = 1;              // yarn
  double mscale = 0, mscale_all_dim = 0;             // yarn; 0: absent
  bool is_truncated = true;                          // yarn: the range's ends become whole numbers
  double low_freq_factor = 1, high_freq_factor = 4;  // llama3
  std::vector<double> short_factors, long_factors;   // longrope
  std::vector<double> divisors;                      // of each frequency; GGUF's rope_freqs
};

/// Attributes of mortise.rope_table/1.
struct RopeTable {
  std::vector<double> inverse_frequencies;       // of dims / 2 pairs
  std::vector<double> long_inverse_frequencies;  // longrope: of sequences longer than long_from
  double factor = 1;                             // of cos and sin
  double dynamic_factor = 0;                     // dynamic NTK; 0: none
  uint32_t long_from = 0;                        // tokens; 0: does not depend on the length
};

/// Frequency i of a head of `dims` rotated columns is theta^(-2i / dims), scaled:
///  - linear: divided by the factor (Chen et al. 2023);
///  - dynamic: by the operation itself, from the length;
///  - yarn: divided by the factor where fewer than beta_slow turns fit into the original context, kept where
///    more than beta_fast do, a ramp between (Peng et al. 2023); cos and sin times 0.1 ln(factor) + 1;
///  - longrope: divided by a list of factors (Ding et al. 2024); cos and sin times
///    sqrt(1 + ln(factor) / ln(original));
///  - llama3: as yarn, but the ramp runs over the number of turns itself (Llama 3.1).
/// Errors: a list of another length than dims / 2, an original context that leaves nothing to compute.
Result<RopeTable> rope_table(const Rope& rope, uint32_t dims);

/// Tokens that the RoPE covers where the model was trained for `context`.
uint32_t covered_context(const Rope& rope, uint32_t context, uint32_t most);

}  // namespace mortise::families
