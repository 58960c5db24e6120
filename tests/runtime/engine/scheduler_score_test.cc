// Tests of scores in the scheduler: every row once, nobody held up by a reader, whatever memory there is.
// Thread rule: single-threaded, but for the pool. Flow: CTest -> Scheduler -> Score.
#include "runtime/engine/scheduler_rig.h"

using namespace mortise_test;

namespace {

/// Rows of all scores, taken in turns by one reader that steps only when it would have to wait.
std::vector<std::vector<float>> read_in_turns(SchedulerRig* rig,
                                              const std::vector<std::shared_ptr<Score>>& scores,
                                              uint32_t tokens) {
  std::vector<std::vector<float>> out(scores.size());
  for (bool is_over = false; !is_over;) {
    is_over = true;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (out[i].size() == uint64_t{tokens} * kVocab) continue;
      is_over = false;
      auto rows = scores[i]->next(0);
      // Some steps may be of others that are in the way; more than these mean that it never comes.
      for (int steps = 0; rows && rows->count == 0; ++steps) {
        REQUIRE(steps < 50);
        rig->scheduler->step();
        rows = scores[i]->next(0);
      }
      REQUIRE(rows);
      REQUIRE(rows->position * kVocab == out[i].size());
      out[i].insert(out[i].end(), rows->logits, rows->logits + uint64_t{rows->count} * kVocab);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("scheduler: a score gives every row once, and waits for its reader") {
  SchedulerRig rig(false, 64);
  const auto score = rig.score(80);
  int steps = 0;
  while (rig.scheduler->step()) REQUIRE(++steps < 50);
  CHECK(rig.scheduler->running() == 1);  // 32 rows a step: the first chunk is not taken
  CHECK(rig.scheduler->active() == 0);
  const auto rows = read_in_turns(&rig, {score}, 80);
  CHECK(rig.scheduler->running() == 0);
  CHECK(score->next(-1)->count == 0);
}

TEST_CASE("scheduler: a reader that is behind holds up no request") {
  SchedulerRig rig(false, 6);  // the score and the request do not fit at once
  const auto score = rig.score(80);
  REQUIRE(rig.scheduler->step());
  CHECK(rig.answer(rig.send(60, 8)).tokens.size() == 8);
  CHECK(rig.scheduler->stats().preemptions > 0);
  SchedulerRig roomy(false, 64);
  CHECK(read_in_turns(&rig, {score}, 80) == read_in_turns(&roomy, {roomy.score(80)}, 80));
}

TEST_CASE("scheduler: one reader of several scores gets all, also where memory holds one") {
  SchedulerRig roomy(false, 64), tight(false, 6);
  const auto alone = read_in_turns(&roomy, {roomy.score(78)}, 78);
  const auto scores = {tight.score(78), tight.score(78), tight.score(78)};
  for (const auto& rows : read_in_turns(&tight, scores, 78)) CHECK(rows == alone[0]);
}

TEST_CASE("scheduler: a cancelled score ends with an error and leaves nothing") {
  SchedulerRig rig(false, 64);
  const auto score = rig.score(80);
  REQUIRE(rig.scheduler->step());
  rig.scheduler->cancel_all();
  CHECK(score->next(-1)->count > 0);
  CHECK(score->next(-1).error().code == Code::cancelled);
  CHECK(rig.blocks.available() == rig.blocks.size());
}

TEST_CASE("scheduler: a failed step ends a score with its error, and is counted") {
  SchedulerRig rig(false, 64);
  const auto score = rig.score(8);
  rig.scheduler->fail_all(Error{Code::no_memory, "engine", "none left"});
  CHECK(score->next(-1).error().code == Code::no_memory);
  CHECK(rig.scheduler->stats().steps_failed == 1);
}

TEST_CASE("scheduler: sums of what a weight is given are those of its rows, in whatever chunks") {
  SchedulerRig rig(false, 64);
  ActivationSums& sums = rig.program->activation_sums();
  double squares[2][4], magnitudes[2][4];
  for (int turn : {0, 1}) {
    sums.collect(true);
    const auto score = rig.score(turn == 0 ? 80 : 40);
    read_in_turns(&rig, {score}, turn == 0 ? 80 : 40);
    const auto rows = sums.read("table", 0, 4, squares[turn], magnitudes[turn]);
    REQUIRE(rows);
    CHECK(*rows == (turn == 0 ? 80 : 40));
  }
  sums.collect(false);
  read_in_turns(&rig, {rig.score(8)}, 8);
  CHECK(*sums.read("table", 0, 4, nullptr, nullptr) == 40);
  // RoPE turns pairs of columns and keeps their length: half of 0, 7, 14, .. mod 11 is not half of the sum.
  double length[2] = {0, 0}, table = 0;
  for (int turn : {0, 1})
    for (int i = 0; i < 4; ++i) length[turn] += squares[turn][i];
  for (uint32_t at = 0; at < 80; ++at)
    for (int i = 0; i < 4; ++i) table += std::pow(double(rig.table[at * 7 % kVocab * 4 + i]), 2);
  CHECK(length[0] == Approx(table).epsilon(1e-5));
  CHECK(length[1] < length[0]);
  for (int i = 0; i < 4; ++i) CHECK(magnitudes[0][i] * magnitudes[0][i] <= 80 * squares[0][i] * 1.0001);
  CHECK(sums.read("table", 0, 5, nullptr, nullptr).error().code == Code::bad_argument);
  CHECK(sums.read("table", 1, 4, nullptr, nullptr).error().code == Code::not_found);
}
