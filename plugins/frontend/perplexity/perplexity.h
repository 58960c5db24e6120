// How well the model foretells a text.
// Thread rule: the front end's thread. Flow: text -> tokens -> windows, each scored as an echoed prompt ->
// the mean.
#pragma once
#include <mortise/frontend.h>

#include <string>
#include <string_view>
#include <vector>

#include "client/streams.h"

namespace mortise::perplexity {

struct Options {
  int64_t window = 512;  ///< tokens; at least 2
  int64_t tokens = 0;    ///< of the text that are used; 0: all
  bool json = false;
  std::string against;         ///< path of the model to compare with; empty: none
  double max_increase = 0.15;  ///< of the perplexity over that of `against`, in any range of context
};

struct Score {
  uint64_t tokens = 0;  ///< in all windows
  uint64_t scored = 0;  ///< all but each window's first
  double nll_sum = 0;   ///< negative log-likelihood in nats
};

/// The tokens of the text that are used. Errors: too few, or a window that no context of the engine holds.
Result<std::vector<uint32_t>> tokens_of(const mortise_services& services, std::string_view text,
                                        const Options& options);
Result<void> check_window(const mortise_services& services, const Options& options);

/// Consecutive windows from the start, without BOS, special tokens in the text being plain text; the mean is
/// over the positions 1.. of each. A last window that is shorter counts if it has two tokens.
Result<Score> measure(const mortise_services& services, std::string_view text, const Options& options,
                      const client::Control& control);

/// {"tokens":…,"mean_nll":…,"perplexity":…}, or a line for people.
std::string report(const Score& score, const Options& options);

}  // namespace mortise::perplexity
