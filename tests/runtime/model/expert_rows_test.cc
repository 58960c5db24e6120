// Tests of grouping rows by expert. Thread rule: single-threaded. Flow: CTest -> ExpertRows.
#include "model/expert_rows.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using mortise::ExpertRows;

TEST_CASE("expert rows: routes are in the order of experts, then of rows, each once") {
  ExpertRows rows;
  rows.reserve(8, 3, 5);
  rows.reserve(4, 10, 1);
  REQUIRE(rows.allocate());
  CHECK(rows.bytes() == (40 + 40) * sizeof(float) + 8 * sizeof(uint32_t));
  // Three rows of two experts each; the two columns behind them are their weights.
  const float routing[] = {0, 3, .5, .5, 1, 3, .5, .5, 0, 2, .5, .5};
  rows.group(routing, 4, 3, 2, 4);
  REQUIRE(rows.routes() == 6);
  const std::vector<uint64_t> places = {0, 4, 2, 5, 1, 3}, firsts = {0, 2, 3, 4, 6};
  for (uint64_t i = 0; i < 6; ++i) CHECK(rows.place(i) == places[i]);
  for (uint32_t e = 0; e < 5; ++e) CHECK(rows.first(e) == firsts[e]);
}

TEST_CASE("expert rows: numbers that name no expert count as the nearest") {
  ExpertRows rows;
  rows.reserve(8, 1, 1);
  REQUIRE(rows.allocate());
  const float huge = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity();
  const float routing[] = {NAN, -1, -infinity, 3, huge, infinity, -0.0f, 1.5f};
  rows.group(routing, 1, 8, 1, 3);
  CHECK(rows.first(1) == 4);
  CHECK(rows.first(2) == 5);
  CHECK(rows.first(3) == 8);
  CHECK(rows.place(4) == 7);
}
