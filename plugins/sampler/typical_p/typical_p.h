// Locally typical sampling: the tokens whose surprise -log p lies nearest to the row's entropy stay, the
// fewest that reach the mass (Meister et al. 2022). Thread rule: pure. Flow: a link of the sampler chain.
#pragma once
#include <mortise/cpp/sampler.h>

#define TYPICAL_P_PARAMS(MORTISE_PARAM)                    \
  MORTISE_PARAM(float, typical_p, "1.0", "(0,1]", request, \
                "keep the tokens of most typical surprise whose probabilities together reach this")
MORTISE_PARAMS(TypicalPParams, TYPICAL_P_PARAMS);

struct TypicalP {
  using Params = TypicalPParams;

  static bool is_identity(const Params& p) { return p.typical_p >= 1.0; }

  static void apply(mortise::Candidates& c, const Params& p) {
    const mortise::Weights w = c.softmax();
    const double log_sum = std::log(w.sum);
    std::vector<uint32_t> items;
    std::vector<double> distance(c.size(),
                                 std::numeric_limits<double>::infinity());  // of surprise and entropy
    double entropy = 0;
    for (uint32_t i = 0; i < c.size(); ++i) {
      if (w.of[i] <= 0) continue;  // never drawn; its surprise is infinite
      distance[i] = log_sum - std::log(w.of[i]);
      entropy += w.of[i] / w.sum * distance[i];
      items.push_back(i);
    }
    for (const uint32_t i : items) distance[i] = std::abs(distance[i] - entropy);
    const uint32_t last =
        mortise::reach_mass(std::move(items), w.of, p.typical_p * w.sum, [&](uint32_t a, uint32_t b) {
          return distance[a] != distance[b] ? distance[a] < distance[b] : c.id(a) < c.id(b);
        });
    const uint32_t last_id = c.id(last);
    c.keep_if([&](uint32_t i) {
      return distance[i] < distance[last] || (distance[i] == distance[last] && c.id(i) <= last_id);
    });
  }
};
