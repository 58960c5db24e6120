// Samplers against plain references over random rows of every shape: small and as long as real vocabularies,
// with ties, dense, compacted, sorted. Thread rule: single-threaded. Flow: drives the built plugins through
// sampler_rig.h. Replay a failure with MORTISE_SEED.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "sampler_rig.h"

namespace {

using Ids = std::vector<uint32_t>;
using Kept = std::function<Ids(const SamplerRow&)>;  // the ids that stay, rising

uint64_t seed() {
  const char* given = std::getenv("MORTISE_SEED");
  const uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  WARN("MORTISE_SEED=" << value);
  return value;
}

// Indices by falling logit, ties by rising id.
std::vector<size_t> order_of(const SamplerRow& row) {
  std::vector<size_t> order(row.ids.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return row.logits[a] != row.logits[b] ? row.logits[a] > row.logits[b] : row.ids[a] < row.ids[b];
  });
  return order;
}

std::vector<double> probabilities(const SamplerRow& row) {
  const double top = *std::max_element(row.logits.begin(), row.logits.end());
  std::vector<double> p;
  double sum = 0;
  for (const float x : row.logits) sum += p.emplace_back(std::exp(x - top));
  for (double& x : p) x /= sum;
  return p;
}

Ids rising(const SamplerRow& row, const std::vector<size_t>& indices) {
  Ids ids;
  for (const size_t i : indices) ids.push_back(row.ids[i]);
  std::sort(ids.begin(), ids.end());
  return ids;
}

Ids top_k(const SamplerRow& row, size_t k) {
  auto order = order_of(row);
  order.resize(std::min(k, order.size()));
  return rising(row, order);
}

Ids take_mass(const SamplerRow& row, const std::vector<size_t>& order, double mass) {
  const auto p = probabilities(row);
  std::vector<size_t> taken;
  double sum = 0;
  for (const size_t i : order) {
    if (sum >= mass) break;
    taken.push_back(i);
    sum += p[i];
  }
  return rising(row, taken);
}

Ids top_p(const SamplerRow& row, double mass) { return take_mass(row, order_of(row), mass); }

Ids typical_p(const SamplerRow& row, double mass) {
  const auto p = probabilities(row);
  double entropy = 0;
  for (const double x : p) entropy -= x > 0 ? x * std::log(x) : 0;
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto distance = [&](size_t i) { return std::abs(-std::log(p[i]) - entropy); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return distance(a) != distance(b) ? distance(a) < distance(b) : row.ids[a] < row.ids[b];
  });
  return take_mass(row, order, mass);
}

Ids min_p(const SamplerRow& row, double least) {
  const auto p = probabilities(row);
  const double top = *std::max_element(p.begin(), p.end());
  std::vector<size_t> stay;
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] >= least * top) stay.push_back(i);
  return rising(row, stay);
}

// A row like a model's: most logits low, some high; on a grid of quarters where ties are wanted.
SamplerRow random_row(std::mt19937_64& random, size_t count, bool ties) {
  std::normal_distribution<float> body(0, 1 + static_cast<float>(random() % 4));
  std::vector<float> logits(count);
  for (float& x : logits) {
    x = body(random) + (random() % 50 == 0 ? 5.0f : 0.0f);
    if (ties) x = std::round(x * 4) / 4;
  }
  return SamplerRow::dense(std::move(logits));
}

SamplerRow compacted(const SamplerRow& dense, uint32_t stride) {
  SamplerRow row = dense;
  for (uint32_t& id : row.ids) id *= stride;
  row.vocab *= stride;
  row.flags = 0;
  return row;
}

SamplerRow sorted(const SamplerRow& dense) {
  SamplerRow row = dense;
  const auto order = order_of(dense);
  for (size_t i = 0; i < order.size(); ++i) {
    row.ids[i] = dense.ids[order[i]];
    row.logits[i] = dense.logits[order[i]];
  }
  row.flags = MORTISE_ROW_SORTED;
  return row;
}

Ids run(const SamplerRig& sampler, SamplerRow row) {
  row.apply(sampler);
  std::sort(row.ids.begin(), row.ids.end());
  return row.ids;
}

// The sampler's answer on the dense, compacted and sorted row against the reference's.
void compare(const SamplerRig& sampler, const SamplerRow& dense, const Kept& reference) {
  const Ids want = reference(dense);
  REQUIRE(run(sampler, dense) == want);
  const SamplerRow sparse = compacted(dense, 3);
  Ids tripled = want;
  for (uint32_t& id : tripled) id *= 3;
  REQUIRE(run(sampler, sparse) == tripled);
  REQUIRE(run(sampler, sorted(dense)) == want);
}

size_t random_count(std::mt19937_64& random) {
  static constexpr size_t kCounts[] = {1, 2, 3, 17, 63, 64, 65, 300, 4096, 49152};
  return kCounts[random() % std::size(kCounts)];
}

double unit(std::mt19937_64& random) { return std::uniform_real_distribution<>(0.001, 0.999)(random); }

}  // namespace

TEST_CASE("samplers that select agree with plain references on random rows") {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 120; ++round) {
    const SamplerRow row = random_row(random, random_count(random), round % 2 == 0);
    const auto k = static_cast<double>(1 + random() % (row.ids.size() + 3));
    const double p = unit(random);
    INFO("round " << round << ", " << row.ids.size() << " candidates, k " << k << ", p " << p);
    compare(SamplerRig("top_k").set("top_k", k), row, [&](const auto& r) { return top_k(r, size_t(k)); });
    compare(SamplerRig("top_p").set("top_p", p), row, [&](const auto& r) { return top_p(r, p); });
    compare(SamplerRig("min_p").set("min_p", p), row, [&](const auto& r) { return min_p(r, p); });
  }
}

TEST_CASE("typical_p agrees with its reference on random rows") {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 60; ++round) {
    const SamplerRow row = random_row(random, random_count(random) % 5000 + 1, false);
    const double p = unit(random);
    INFO("round " << round << ", " << row.ids.size() << " candidates, p " << p);
    compare(SamplerRig("typical_p").set("typical_p", p), row, [&](const auto& r) { return typical_p(r, p); });
  }
}

TEST_CASE("top_k on a long row of equal or monotone logits") {
  for (const float slope : {0.0f, 1e-3f, -1e-3f}) {
    std::vector<float> logits(151936);
    for (size_t i = 0; i < logits.size(); ++i) logits[i] = slope * static_cast<float>(i);
    const SamplerRow row = SamplerRow::dense(logits);
    for (const size_t k : {1, 40, 5000})
      compare(SamplerRig("top_k").set("top_k", static_cast<double>(k)), row,
              [&](const auto& r) { return top_k(r, k); });
  }
}

TEST_CASE("penalties and biases agree on dense, compacted and sorted rows") {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 40; ++round) {
    SamplerRow dense = random_row(random, 2 + random_count(random) % 3000, round % 2 == 0);
    for (int i = 0; i < 50; ++i) dense.history.push_back(static_cast<uint32_t>(random() % dense.vocab));
    dense.prompt_count = 20;
    SamplerRig penalties("penalties");
    penalties.set("repetition_penalty", 0.5 + unit(random)).set("frequency_penalty", unit(random));
    SamplerRig bias("logit_bias");
    bias.set_map("logit_bias", {{"1", 3.5}, {std::to_string(dense.vocab - 1), -7}});
    for (const SamplerRig* sampler : {&penalties, &bias}) {
      SamplerRow a = dense, b = sorted(dense);
      a.apply(*sampler);
      b.apply(*sampler);
      REQUIRE(b.flags == MORTISE_ROW_SORTED);
      std::map<uint32_t, float> by_id;
      for (size_t i = 0; i < b.ids.size(); ++i) by_id[b.ids[i]] = b.logits[i];
      for (size_t i = 0; i < a.ids.size(); ++i) REQUIRE(by_id.at(a.ids[i]) == a.logits[i]);
    }
  }
}

TEST_CASE("a fault planted in the reference is seen") {
  std::mt19937_64 random(seed());
  int seen = 0;
  for (int round = 0; round < 20; ++round) {
    const SamplerRow row = random_row(random, 4096, true);
    seen += run(SamplerRig("top_k").set("top_k", 40), row) != top_k(row, 41);
    seen += run(SamplerRig("top_p").set("top_p", 0.8), row) != top_p(row, 0.81);
    seen += run(SamplerRig("min_p").set("min_p", 0.1), row) != min_p(row, 0.05);
  }
  REQUIRE(seen >= 40);
}
