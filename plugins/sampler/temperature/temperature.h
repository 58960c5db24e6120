// Temperature: logits / temperature. Thread rule: pure. Flow: a link of the sampler chain; sharpens (< 1) or
// flattens (> 1) the distribution that the links behind it see.
#pragma once
#include <mortise/cpp/sampler.h>

#define TEMPERATURE_PARAMS(MORTISE_PARAM)                      \
  MORTISE_PARAM(float, temperature, "1.0", "[0,100]", request, \
                "randomness: 0 always takes the likeliest token, 1 the model's own distribution")
MORTISE_PARAMS(TemperatureParams, TEMPERATURE_PARAMS);

struct Temperature {
  using Params = TemperatureParams;

  // Below this the quotients of near ties are all that differs from 0, and large ones would overflow.
  static constexpr double kGreedyBelow = 1e-5;

  static bool is_identity(const Params& p) { return p.temperature == 1.0; }

  static void apply(mortise::Candidates& c, const Params& p) {
    const double t = p.temperature;
    if (t < kGreedyBelow) return c.keep_to(c.likeliest());
    c.update([t](uint32_t, float x) { return static_cast<float>(x / t); });
  }
};
