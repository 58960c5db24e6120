// A model measured against another one, by range of context.
// Thread rule: the front end's thread. Flow: the same windows through both engines -> logits of each position
// side by side -> figures by range -> a table, and a verdict.
#pragma once
#include <mortise/frontend.h>

#include <string>
#include <string_view>
#include <vector>

#include "client/streams.h"
#include "distribution.h"
#include "perplexity.h"

namespace mortise::perplexity {

/// Positions below `end` that no earlier range has.
struct Range {
  uint64_t end = 0;
  const char* name = "";
  Figures figures;
};

struct Comparison {
  std::string model, against;  // paths
  uint64_t tokens = 0;         // in all windows
  std::vector<Range> ranges;   // those with scored tokens

  Figures all() const;
};

/// Windows as `measure` takes them; token t of a window counts in the range of its position t. Errors: the
/// two do not have the same vocabulary, or make other tokens of the text.
Result<Comparison> compare(const mortise_services& services, std::string_view text, const Options& options,
                           const client::Control& control);

/// The figures as JSON, or a table.
std::string report(const Comparison& comparison, const Options& options);

/// An error where the increase passes options.max_increase in any range.
Result<void> verdict(const Comparison& comparison, const Options& options);

}  // namespace mortise::perplexity
