// Tests of the scheduler over a small model without attention: which sequences share the cache, and what
// their rows learn. Thread rule: single-threaded, but for the pool. Flow: CTest -> Scheduler -> a request's
// channel.
#include "runtime/engine/scheduler_rig.h"

using namespace mortise_test;

TEST_CASE("scheduler: sequences whose RoPE differs share no blocks") {
  const bool each_length = GENERATE(false, true);
  SchedulerRig rig(each_length, 64);
  const auto cached = [&](uint64_t max_tokens) { return rig.answer(rig.send(33, max_tokens)).cached; };
  CHECK(cached(4) == 0);
  CHECK(cached(7) == 32);  // 40 tokens: the last length of the short kind
  CHECK(cached(8) == 0);
  CHECK(cached(8) == 32);
  CHECK(cached(20) == (each_length ? 0 : 32));
  // Beyond the context all are admitted for the context.
  CHECK(cached(60) == (each_length ? 0 : 32));
  CHECK(cached(UINT64_MAX) == 32);
  CHECK(cached(5) == 32);
}

TEST_CASE("scheduler: a row turns by the length it was admitted for, also after it had to give way") {
  SchedulerRig roomy(false, 64), tight(false, 8);
  const std::vector<std::pair<uint32_t, uint64_t>> requests = {
      {30, 30}, {25, 10}, {21, 40}, {33, 3}, {18, 50}};
  std::vector<std::shared_ptr<Channel>> channels;
  for (const auto& [prompt, count] : requests) channels.push_back(tight.send(prompt, count));
  std::vector<SchedulerRig::Answer> alone;
  for (const auto& [prompt, count] : requests) alone.push_back(roomy.answer(roomy.send(prompt, count)));
  for (size_t i = 0; i < requests.size(); ++i) {
    CHECK(tight.answer(channels[i]).tokens == alone[i].tokens);
    CHECK(alone[i].tokens.size() == requests[i].second);
  }
  CHECK(tight.scheduler->stats().preemptions > 0);
}

TEST_CASE("scheduler: what was computed again after giving way is not shared with another RoPE") {
  SchedulerRig rig(false, 8);
  std::vector<std::shared_ptr<Channel>> channels;
  for (uint32_t i = 0; i < 4; ++i) channels.push_back(rig.send(30 + i, 30 + i));
  for (const auto& channel : channels) rig.answer(channel);
  REQUIRE(rig.scheduler->stats().preemptions > 0);
  CHECK(rig.answer(rig.send(33, 4)).cached == 0);
  CHECK(rig.answer(rig.send(33, 30)).cached > 0);
}
