// Tests of log-probabilities, the draw and its random numbers. Thread rule: single-threaded. Flow: CTest ->
// sampling.
#include "engine/sampling.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace mortise;

namespace {

Result<uint32_t> draw_of(std::vector<float> logits, uint64_t seed) {
  std::vector<uint32_t> ids(logits.size());
  std::vector<SamplerValues> none;
  return sample({logits.data(), static_cast<uint32_t>(logits.size()), nullptr, 0, 0, {seed, 0, 5}}, {}, &none,
                ids.data());
}

using Apply = void (*)(mortise_sample_row* row);

/// A chain of samplers that are each one function over {0, 1, 2, 3}.
Result<uint32_t> draw_through(const std::vector<Apply>& chain) {
  std::vector<float> logits = {0, 1, 2, 3};
  std::vector<uint32_t> ids(logits.size());
  mortise_sampler calls{};
  calls.apply = [](void* self, mortise_sample_row* const* rows, uint32_t, mortise_error*) -> mortise_status {
    (*static_cast<const Apply*>(self))(rows[0]);
    return MORTISE_OK;
  };
  std::vector<SamplerLink> links(chain.size());
  for (size_t i = 0; i < chain.size(); ++i) {
    links[i].provider.name = "test";
    links[i].provider.self = const_cast<Apply*>(&chain[i]);
    links[i].calls = &calls;
  }
  std::vector<SamplerValues> values(chain.size());
  return sample({logits.data(), 4, nullptr, 0, 0, {1, 0, 5}}, links, &values, ids.data());
}

}  // namespace

TEST_CASE("log probability: the raw distribution, largest first, ties to the lower id") {
  const float logits[] = {2, 1, 0.5f, -1, -2};
  const TokenLogprob p = log_probability(logits, 5, 3, 3);
  CHECK(p.logprob == Approx(-3.506283));
  CHECK(p.top_ids == std::vector<uint32_t>{0, 1, 2});
  CHECK(p.top_logprobs[0] == Approx(-0.506283));
  CHECK(p.top_logprobs[2] == Approx(-2.006283));
  const float ties[] = {1, 3, 3, 3};
  CHECK(log_probability(ties, 4, 0, 2).top_ids == std::vector<uint32_t>{1, 2});
}

TEST_CASE("log probability: minus infinity has the field's floor, and not a number is no candidate") {
  const float logits[] = {0, -INFINITY, NAN};
  const TokenLogprob p = log_probability(logits, 3, 1, 3);
  CHECK(p.logprob == -9999.0f);
  CHECK(p.top_ids == std::vector<uint32_t>{0, 1});
}

TEST_CASE("draw: shares follow the distribution") {
  std::map<uint32_t, int> counts;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i)
    ++counts[*draw_of({0, std::log(2.0f), std::log(7.0f)}, static_cast<uint64_t>(i))];
  CHECK(counts[0] == Approx(kDraws * 0.1).epsilon(0.1));
  CHECK(counts[1] == Approx(kDraws * 0.2).epsilon(0.1));
  CHECK(counts[2] == Approx(kDraws * 0.7).epsilon(0.05));
}

TEST_CASE("draw: an address gives one number, and neighbours others") {
  CHECK(uniform({1, 0, 2}, 0) == uniform({1, 0, 2}, 0));
  CHECK(uniform({1, 0, 2}, 0) != uniform({1, 0, 3}, 0));
  CHECK(uniform({1, 0, 2}, 0) != uniform({2, 0, 2}, 0));
  CHECK(uniform({1, 0, 2}, 0) != uniform({1, 1, 2}, 0));
  CHECK(uniform({1, 0, 2}, 0) != uniform({1, 0, 2}, 1));
}

TEST_CASE("draw: logits without a number are an error, infinite ones are not drawn") {
  CHECK_FALSE(draw_of({NAN, NAN}, 1));
  CHECK_FALSE(draw_of({-INFINITY, -INFINITY}, 1));
  for (uint64_t seed = 0; seed < 50; ++seed) CHECK(*draw_of({-INFINITY, 1, NAN}, seed) == 1);
}

TEST_CASE("chain: what a sampler leaves is checked before the next one sees it") {
  const Apply next = [](mortise_sample_row*) { FAIL("the chain went on"); };
  for (const Apply bad : {
           Apply{[](mortise_sample_row* row) { row->count = 0; }},
           Apply{[](mortise_sample_row* row) { row->count = 5; }},
           Apply{[](mortise_sample_row* row) { row->ids[2] = 4; }},
           Apply{[](mortise_sample_row* row) { std::fill_n(row->logits, 4, -INFINITY); }},
           Apply{[](mortise_sample_row* row) { std::fill_n(row->logits, 4, NAN); }},
       }) {
    const auto token = draw_through({bad, next});
    REQUIRE_FALSE(token);
    CHECK(token.error().where == "sampler 'test'");
  }
}

TEST_CASE("chain: what a sampler writes to fields that are not its own ends with it") {
  const Apply greedy_write = [](mortise_sample_row* row) {
    *row = mortise_sample_row{};
    row->count = 4;
  };
  const Apply whole = [](mortise_sample_row* row) {
    REQUIRE(row->vocab == 4);
    REQUIRE(row->uniform(row->random, 0) < 1);
    std::swap(row->ids[0], row->ids[3]);
    row->logits[0] = 3;
    row->count = 1;
  };
  CHECK(*draw_through({greedy_write, whole}) == 3);
}

TEST_CASE("draw: an infinite logit is the one that is drawn") {
  for (uint64_t seed = 0; seed < 20; ++seed) CHECK(*draw_of({1, 2, INFINITY, 3}, seed) == 2);
}
