// Top-k: the k likeliest tokens stay; ties at the border go to the lower id. Thread rule: pure. Flow: a link
// of the sampler chain; behind it rows are short, so what follows is cheap.
#pragma once
#include <mortise/cpp/sampler.h>

#define TOP_K_PARAMS(MORTISE_PARAM) \
  MORTISE_PARAM(int, top_k, "0", "[-1,)", request, "keep the k likeliest tokens; 0 or -1: all")
MORTISE_PARAMS(TopKParams, TOP_K_PARAMS);

struct TopK {
  using Params = TopKParams;

  static bool is_identity(const Params& p) { return p.top_k <= 0; }

  static void apply(mortise::Candidates& c, const Params& p) {
    if (p.top_k > 0 && p.top_k < c.size()) c.keep_to(c.nth(static_cast<uint32_t>(p.top_k)));
  }
};
