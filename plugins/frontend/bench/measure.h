// One round of one test, through the engine service as any front end would feel it.
// Thread rule: the front end's thread. Flow: called by bench.cc.
#pragma once
#include <mortise/frontend.h>

#include <vector>

#include "client/engine.h"
#include "client/streams.h"
#include "spec.h"

namespace mortise::bench {

/// One round. Times are the engine's own stamps.
struct Round {
  uint64_t tokens = 0;
  double seconds = 0;
};

class Bench {
 public:
  Bench(client::Channel& channel, const mortise_engine* engine, const client::Control& control);

  /// Whether the pipeline has room for the test: context and sequences.
  Result<void> check(const Spec& spec) const;
  /// One short pass of the same shape, so that the first round finds memory touched and threads awake.
  Result<void> warm_up(const Spec& spec);
  Result<Round> measure(const Spec& spec);

 private:
  Result<Round> prefill(const Spec& spec);
  Result<Round> decode(const Spec& spec);
  Result<uint64_t> prefill_ns(uint64_t tokens);
  Result<uint64_t> submit(uint64_t prompt_tokens, uint64_t max_tokens);
  /// The terminal event of `wanted`; the others' ends are counted off `open_`.
  Result<mortise_event> wait_for(uint64_t wanted);
  Result<void> cancel_all();
  uint64_t lead_tokens(const Spec& spec) const;

  client::Channel& channel_;
  const mortise_engine* engine_;
  const client::Control& control_;
  mortise_engine_info info_{};
  std::vector<uint64_t> open_;  // requests without their terminal event
  uint64_t random_ = 0x9e3779b97f4a7c15u;
};

}  // namespace mortise::bench
