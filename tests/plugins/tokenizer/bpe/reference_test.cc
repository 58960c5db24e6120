// Random vocabularies and words against BPE as its definition has it. Thread rule: single-threaded.
// Flow: run by CTest; MORTISE_SEED replays a run.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "test_metadata.h"

using namespace mortise::bpe;

namespace {

using Rng = std::mt19937_64;

struct Rules {
  std::vector<std::string> tokens, merges;
  std::map<std::pair<std::string, std::string>, size_t> ranks;
};

size_t below(Rng* rng, size_t limit) { return (*rng)() % limit; }

// Merges of random known texts, in random order: also such that no training would give, where a later text's
// rule comes before those of its parts.
Rules random_rules(Rng* rng, size_t letters, size_t count) {
  std::vector<std::string> known;
  for (size_t i = 0; i < letters; ++i) known.emplace_back(1, static_cast<char>('a' + i));
  std::set<std::string> all(known.begin(), known.end());
  std::vector<std::pair<std::string, std::string>> pairs;
  Rules out;
  for (size_t i = 0; i < count; ++i) {
    const std::string left = known[below(rng, known.size())], right = known[below(rng, known.size())];
    if (left.size() + right.size() > 24) continue;
    pairs.emplace_back(left, right);
    if (all.insert(left + right).second) {
      known.push_back(left + right);
      out.tokens.push_back(left + right);
    }
  }
  if (below(rng, 2) == 0) std::shuffle(pairs.begin(), pairs.end(), *rng);
  for (size_t i = 0; i < pairs.size(); ++i) {
    out.merges.push_back(pairs[i].first + " " + pairs[i].second);
    out.ranks[pairs[i]] = i;
  }
  return out;
}

// The definition: of all neighbours merge those of the lowest rank, the leftmost of them; again until there
// are none.
std::vector<std::string> reference(const Rules& rules, const std::string& word) {
  std::vector<std::string> parts;
  for (const char letter : word) parts.emplace_back(1, letter);
  while (true) {
    size_t best = 0, best_rank = SIZE_MAX;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = rules.ranks.find({parts[i], parts[i + 1]});
      if (found != rules.ranks.end() && found->second < best_rank) best_rank = found->second, best = i;
    }
    if (best_rank == SIZE_MAX) return parts;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

}  // namespace

TEST_CASE("bpe reference: random rules and words, short and long") {
  const char* given = std::getenv("MORTISE_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  INFO("MORTISE_SEED=" << seed);
  Rng rng(seed);
  for (int round = 0; round < 200; ++round) {
    const size_t letters = 1 + below(&rng, 5);
    const Rules rules = random_rules(&rng, letters, 1 + below(&rng, 60));
    const auto tokenizer = byte_vocabulary(rules.tokens, rules.merges).must_load();
    for (int i = 0; i < 20; ++i) {
      std::string word;
      const size_t size = 1 + below(&rng, below(&rng, 2) == 0 ? 30 : 200);
      while (word.size() < size) word += static_cast<char>('a' + below(&rng, letters));
      std::vector<std::string> parts;
      for (const int32_t id : encode(*tokenizer, word)) parts.emplace_back(tokenizer->model().text(id));
      if (parts != reference(rules, word)) FAIL("round " << round << ", word " << word);
    }
  }
  SUCCEED();
}
