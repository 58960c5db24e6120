// RoPE's frequencies against figures of the reference implementation (transformers 5.24, float32), and what
// is refused. Thread rule: one thread. Flow: run by CTest.
#include "families/rope.h"

#include <catch2/catch.hpp>

using namespace mortise::families;

namespace {

Rope scaled(RopeKind kind) {
  Rope rope;
  rope.kind = kind;
  rope.factor = 4;
  rope.original_context = 128;
  return rope;
}

}  // namespace

TEST_CASE("rope: kinds") {
  CHECK(rope_table(Rope{}, 8)->inverse_frequencies[1] == Approx(0.1));
  CHECK(rope_table(scaled(RopeKind::linear), 8)->inverse_frequencies[1] == Approx(0.025));
  CHECK(rope_table(scaled(RopeKind::linear), 8)->factor == 1);

  const RopeTable yarn = *rope_table(scaled(RopeKind::yarn), 16);
  CHECK(yarn.factor == Approx(1.1386294));
  CHECK(yarn.inverse_frequencies.front() == Approx(1));
  CHECK(yarn.inverse_frequencies.back() == Approx(7.9056942e-5));  // a quarter of the plain one

  const RopeTable dynamic = *rope_table(scaled(RopeKind::dynamic), 8);
  CHECK(dynamic.dynamic_factor == 4);
  CHECK(dynamic.long_from == 128);
  CHECK(dynamic.inverse_frequencies[1] == Approx(0.1));

  Rope both = scaled(RopeKind::longrope);
  both.short_factors = {1, 2};
  both.long_factors = {4, 8};
  const RopeTable longrope = *rope_table(both, 4);
  CHECK(longrope.inverse_frequencies[1] == Approx(0.005));
  CHECK(longrope.long_inverse_frequencies[1] == Approx(0.00125));
  CHECK(longrope.long_from == 128);
  CHECK(longrope.factor == Approx(1.1338934));

  const RopeTable llama3 = *rope_table(scaled(RopeKind::llama3), 16);
  CHECK(llama3.inverse_frequencies.front() == Approx(1));
  CHECK(llama3.inverse_frequencies.back() == Approx(7.9056942e-5));
}

TEST_CASE("rope: what the metadata says of cos and sin goes before what follows from the kind") {
  Rope rope = scaled(RopeKind::yarn);
  rope.mscale = 0.5;
  rope.mscale_all_dim = 1;
  CHECK(rope_table(rope, 16)->factor == Approx(1.0693147 / 1.1386294));
  rope.attention_factor = 1.5;
  CHECK(rope_table(rope, 16)->factor == 1.5);
}

TEST_CASE("rope: factors of another number, without a sign or that give nothing are refused") {
  Rope rope = scaled(RopeKind::longrope);
  rope.short_factors = {1, 2};
  rope.long_factors = {1, 2, 3};
  CHECK_FALSE(rope_table(rope, 4));
  rope.long_factors = {1, 0};
  CHECK_FALSE(rope_table(rope, 4));
  rope.long_factors = {1, 2};
  CHECK(rope_table(rope, 4));
  rope.original_context = 1;  // its logarithm is 0
  CHECK_FALSE(rope_table(rope, 4));
  Rope listed;
  listed.divisors = {1};
  CHECK_FALSE(rope_table(listed, 4));
}

TEST_CASE("rope: the context that scaling covers") {
  CHECK(covered_context(scaled(RopeKind::yarn), 128, 1 << 24) == 512);
  CHECK(covered_context(scaled(RopeKind::yarn), 1024, 1 << 24) == 1024);
  CHECK(covered_context(scaled(RopeKind::linear), 128, 1 << 24) == 128);
  Rope huge = scaled(RopeKind::dynamic);
  huge.factor = 1e30;
  CHECK(covered_context(huge, 128, 1 << 24) == 1 << 24);
}
