// Min-p: a token stays where its probability is at least min_p times the likeliest one's (Nguyen et al. 2024,
// "Turning Up the Heat"). Thread rule: pure. Flow: a link of the sampler chain.
#pragma once
#include <mortise/cpp/sampler.h>

#define MIN_P_PARAMS(MORTISE_PARAM)                    \
  MORTISE_PARAM(float, min_p, "0.0", "[0,1]", request, \
                "drop tokens less likely than this share of the likeliest one's probability")
MORTISE_PARAMS(MinPParams, MIN_P_PARAMS);

struct MinP {
  using Params = MinPParams;

  static bool is_identity(const Params& p) { return p.min_p <= 0.0; }

  static void apply(mortise::Candidates& c, const Params& p) {
    // p_i >= min_p * p_max, by logarithms: no exponential and no sum is needed. -inf where all are.
    const double least = c.largest() + std::log(p.min_p.value);
    c.keep_if([&](uint32_t i) { return c.logit(i) >= least; });
  }
};
