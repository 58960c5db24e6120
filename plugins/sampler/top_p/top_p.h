// Top-p (nucleus): the fewest likeliest tokens whose probabilities reach p (Holtzman et al. 2019, "The
// Curious Case of Neural Text Degeneration"). Thread rule: pure. Flow: a link of the sampler chain.
#pragma once
#include <mortise/cpp/sampler.h>

#define TOP_P_PARAMS(MORTISE_PARAM)                    \
  MORTISE_PARAM(float, top_p, "1.0", "(0,1]", request, \
                "keep the likeliest tokens whose probabilities together reach this")
MORTISE_PARAMS(TopPParams, TOP_P_PARAMS);

struct TopP {
  using Params = TopPParams;

  static bool is_identity(const Params& p) { return p.top_p >= 1.0; }

  static void apply(mortise::Candidates& c, const Params& p) {
    const mortise::Weights w = c.softmax();
    // All tokens lighter than this weigh together less than the tail that may go, so none of them is ever
    // needed; half of it leaves room for rounding. In a model's row few remain.
    const double needless = (1.0 - p.top_p) * w.sum / c.size() / 2;
    std::vector<uint32_t> items;
    for (uint32_t i = 0; i < c.size(); ++i)
      if (w.of[i] >= needless) items.push_back(i);
    c.keep_to(mortise::reach_mass(std::move(items), w.of, p.top_p * w.sum,
                                  [&c](uint32_t a, uint32_t b) { return c.before(a, b); }));
  }
};
