// From logits to a token: log-probabilities of the raw distribution, the sampler chain, the draw.
// Thread rule: pure over its arguments; one call per row, on any worker of the pool. Flow: Program's logits
// -> here -> scheduler.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <vector>

#include "engine/channel.h"
#include "engine/random.h"
#include "engine/request.h"

namespace mortise {

/// log p of `token` and the `top` likeliest tokens (falling, ties to the lower id), p = softmax(logits[0,
/// vocab)).
TokenLogprob log_probability(const float* logits, uint32_t vocab, uint32_t token, uint32_t top);

/// What the chain sees of one sequence.
struct SampleInput {
  float* logits = nullptr;  // [vocab]; changed
  uint32_t vocab = 0;
  const uint32_t* history = nullptr;
  uint32_t history_count = 0, prompt_count = 0;
  RandomAddress random;
  uint64_t* samplers_ns = nullptr;  // time inside sampler plugins is added here
};

/// Runs the chain and draws. `ids` is scratch of `vocab` elements. Errors: a sampler's, or logits without a
/// number.
Result<uint32_t> sample(const SampleInput& input, const std::vector<SamplerLink>& links,
                        std::vector<SamplerValues>* values, uint32_t* ids);

}  // namespace mortise
