// Tests of the KV block pool. Thread rule: single-threaded. Flow: CTest -> KvPool.
#include "engine/kv_pool.h"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>

using mortise::KvPool;

namespace {

constexpr uint32_t kBlock = KvPool::kBlockTokens;

/// A chain of sealed blocks for the tokens, taken, filled and given back.
void fill(KvPool* pool, const std::vector<uint32_t>& tokens) {
  KvPool::Prefix prefix = pool->find({}, tokens.data(), tokens.size());
  while ((prefix.blocks.size() + 1) * kBlock <= tokens.size()) {
    prefix.blocks.push_back(*pool->take());
    prefix.key =
        pool->seal(prefix.blocks.back(), prefix.key, tokens.data() + (prefix.blocks.size() - 1) * kBlock);
  }
  pool->release(prefix.blocks);
}

std::vector<uint32_t> numbers(uint32_t first, uint32_t count) {
  std::vector<uint32_t> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

}  // namespace

TEST_CASE("kv pool: blocks are handed out once and come back") {
  KvPool pool(3, true);
  std::vector<uint32_t> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(*pool.take());
  CHECK(taken[0] != taken[1]);
  CHECK(taken[1] != taken[2]);
  CHECK_FALSE(pool.take());
  CHECK(pool.available() == 0);
  pool.release(taken);
  CHECK(pool.available() == 3);
  CHECK(pool.cached() == 0);  // nothing was sealed
}

TEST_CASE("kv pool: what one root knows is not found from another") {
  KvPool pool(8, true);
  const auto tokens = numbers(0, 2 * kBlock);
  fill(&pool, tokens);
  const KvPool::Key other = KvPool::Key::root(1);
  KvPool::Prefix found = pool.find(other, tokens.data(), tokens.size());
  CHECK(found.blocks.empty());
  CHECK(found.key == other);
  // The same tokens under the other root are blocks of their own.
  const uint32_t block = *pool.take();
  pool.seal(block, other, tokens.data());
  found = pool.find(other, tokens.data(), tokens.size());
  CHECK(found.blocks == std::vector<uint32_t>{block});
  CHECK(pool.find({}, tokens.data(), tokens.size()).blocks.size() == 2);
}

TEST_CASE("kv pool: a prefix is found by content, whole blocks only, and as far as it agrees") {
  KvPool pool(8, true);
  const auto tokens = numbers(0, 3 * kBlock);
  fill(&pool, tokens);
  CHECK(pool.cached() == 3);
  KvPool::Prefix found = pool.find({}, tokens.data(), 3 * kBlock - 1);
  CHECK(found.blocks.size() == 2);
  CHECK(pool.available() == 6);  // what is in use is not available
  pool.release(found.blocks);
  auto other = tokens;
  other[kBlock] = 999;
  found = pool.find({}, other.data(), other.size());
  CHECK(found.blocks.size() == 1);
  pool.release(found.blocks);
  other = tokens;
  other[0] = 999;  // the second block's tokens agree, its parent does not
  CHECK(pool.find({}, other.data(), other.size()).blocks.empty());
}

TEST_CASE("kv pool: without caching nothing is found") {
  KvPool pool(4, false);
  const auto tokens = numbers(0, 2 * kBlock);
  fill(&pool, tokens);
  CHECK(pool.find({}, tokens.data(), tokens.size()).blocks.empty());
  CHECK(pool.available() == 4);
}

TEST_CASE("kv pool: the end of a chain is evicted before its start, the oldest chain first") {
  KvPool pool(4, true);
  const auto old_chain = numbers(0, 2 * kBlock), new_chain = numbers(1000, 2 * kBlock);
  fill(&pool, old_chain);
  fill(&pool, new_chain);
  const uint32_t taken = *pool.take();
  KvPool::Prefix old_found = pool.find({}, old_chain.data(), old_chain.size());
  CHECK(old_found.blocks.size() == 1);
  KvPool::Prefix new_found = pool.find({}, new_chain.data(), new_chain.size());
  CHECK(new_found.blocks.size() == 2);
  pool.release(old_found.blocks);
  pool.release(new_found.blocks);
  pool.release({taken});
}

TEST_CASE("kv pool: content that was evicted is not found through its children") {
  KvPool pool(2, true);
  const auto tokens = numbers(0, 2 * kBlock);
  fill(&pool, tokens);
  KvPool::Prefix child = pool.find({}, tokens.data(), tokens.size());
  REQUIRE(child.blocks.size() == 2);
  // Drop the parent only, and let its block be used for something else.
  pool.release({child.blocks[0]});
  const uint32_t reused = *pool.take();
  CHECK(reused == child.blocks[0]);
  const auto other = numbers(5000, kBlock);
  pool.seal(reused, {}, other.data());
  CHECK(pool.find({}, tokens.data(), tokens.size()).blocks.empty());
}

TEST_CASE("kv pool: equal content computed twice keeps one name") {
  KvPool pool(4, true);
  const auto tokens = numbers(0, kBlock);
  const uint32_t a = *pool.take(), b = *pool.take();
  const KvPool::Key first = pool.seal(a, {}, tokens.data()), second = pool.seal(b, {}, tokens.data());
  CHECK(first == second);
  pool.release({a, b});
  CHECK(pool.cached() == 1);
  CHECK(pool.available() == 4);
}

TEST_CASE("kv pool: random use loses no block and finds only what was sealed") {
  const uint32_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 rng(seed);
  KvPool pool(16, true);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint32_t> tokens(kBlock * (1 + rng() % 5));
    for (size_t i = 0; i < tokens.size(); i += kBlock)
      std::fill_n(tokens.begin() + static_cast<ptrdiff_t>(i), kBlock, rng() % 3);
    const KvPool::Prefix found = pool.find({}, tokens.data(), tokens.size());
    REQUIRE(found.blocks.size() * kBlock <= tokens.size());
    pool.release(found.blocks);
    fill(&pool, tokens);
    REQUIRE(pool.available() == 16);
    const KvPool::Prefix again = pool.find({}, tokens.data(), tokens.size());
    REQUIRE(again.blocks.size() * kBlock == tokens.size());
    pool.release(again.blocks);
  }
}
