// A score between an engine and its reader.
// Thread rule: the test's thread, and one that reads. Flow: rows in, chunk by chunk, the same rows out.
#include "engine/score.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace mortise;

namespace {

void fill(Score* score, uint32_t count, float first) {
  for (uint32_t i = 0; i < count; ++i) *score->row(i) = first + static_cast<float>(i);
  score->publish(count);
}

}  // namespace

TEST_CASE("score: a chunk is there until the next call, and room as soon as it is taken") {
  Score score(5, 1);
  CHECK(score.has_room());
  CHECK(score.next(0)->count == 0);
  fill(&score, 3, 10);
  CHECK(!score.has_room());
  const auto first = score.next(0);
  REQUIRE(first);
  CHECK(first->count == 3);
  CHECK(first->position == 0);
  CHECK(score.has_room());
  fill(&score, 2, 20);
  CHECK(first->logits[2] == 12);  // the engine writes elsewhere
  const auto second = score.next(0);
  REQUIRE(second);
  CHECK(second->position == 3);
  CHECK(second->logits[1] == 21);
  CHECK(score.next(-1)->count == 0);  // all were given: it does not wait
}

TEST_CASE("score: an error comes behind the rows that are there") {
  Score score(4, 1);
  fill(&score, 2, 0);
  score.fail(Error{Code::no_memory, "engine", "none left"});
  CHECK(score.next(-1)->count == 2);
  CHECK(score.next(-1).error().code == Code::no_memory);
}

TEST_CASE("score: a reader that waits is woken by rows and by errors") {
  Score score(2, 1);
  std::thread engine([&] {
    fill(&score, 1, 7);
    while (!score.has_room()) std::this_thread::yield();
    score.fail(Error{Code::cancelled, "engine", "over"});
  });
  const auto row = score.next(-1);
  const float value = row ? *row->logits : 0;
  const auto end = score.next(-1);
  engine.join();
  CHECK(value == 7);
  CHECK(end.error().code == Code::cancelled);
}
