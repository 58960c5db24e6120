// Penalties on tokens that occurred before: repetition (Keskar et al. 2019, CTRL), frequency and presence
// (the OpenAI API's formula). Thread rule: pure. Flow: a link of the sampler chain, usually the first.
#pragma once
#include <mortise/cpp/sampler.h>

#define PENALTIES_PARAMS(MORTISE_PARAM)                                                           \
  MORTISE_PARAM(float, repetition_penalty, "1.0", "(0,100]", request,                             \
                "above 1: tokens of prompt and answer become less likely, whatever their number") \
  MORTISE_PARAM(float, frequency_penalty, "0.0", "[-2,2]", request,                               \
                "subtracted from a token's logit for each time it was generated")                 \
  MORTISE_PARAM(float, presence_penalty, "0.0", "[-2,2]", request,                                \
                "subtracted from a token's logit where it was generated at all")                  \
  MORTISE_PARAM(int, penalty_window, "0", "[0,)", request,                                        \
                "count the latest this many tokens of prompt and answer; 0: all")
MORTISE_PARAMS(PenaltiesParams, PENALTIES_PARAMS);

struct Penalties {
  using Params = PenaltiesParams;

  static bool is_identity(const Params& p) {
    return p.repetition_penalty == 1.0 && p.frequency_penalty == 0.0 && p.presence_penalty == 0.0;
  }

  static void apply(mortise::Candidates& c, const Params& p) {
    const auto history = c.history();
    const size_t window = p.penalty_window == 0 ? history.size() : static_cast<size_t>(p.penalty_window);
    const size_t first = history.size() - std::min(history.size(), window);
    // Per token: bit 0, seen at all; above it, how often it was generated.
    std::vector<uint32_t> seen(c.vocab());
    for (size_t at = first; at < history.size(); ++at) {
      if (history[at] >= seen.size()) continue;  // not a token of this vocabulary
      uint32_t& mark = seen[history[at]];
      mark = (mark + (at >= c.prompt_count() ? 2u : 0u)) | 1u;
    }
    c.update([&](uint32_t i, float x) { return penalise(x, seen[c.id(i)], p); });
  }

 private:
  // Dividing a negative logit would make its token likelier; so it is multiplied.
  static float penalise(float logit, uint32_t mark, const Params& p) {
    if (mark == 0) return logit;
    const double x = logit > 0 ? logit / p.repetition_penalty : logit * p.repetition_penalty;
    const uint32_t count = mark >> 1;
    return static_cast<float>(x - count * p.frequency_penalty - (count > 0 ? p.presence_penalty.value : 0.0));
  }
};
