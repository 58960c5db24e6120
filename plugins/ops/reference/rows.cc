// ops/reference: the operations that work on one row in double: RoPE's table and the router.
// Thread rule: pure functions, [worker]. Flow: ops.cc calls them for each row of a task.
#include <algorithm>
#include <cmath>

#include "ops.h"

namespace ops_reference {

void rope_table(const RopeTable& table, double factor, int32_t position, uint32_t length, float* out) {
  const size_t half = table.inverse_frequencies.size();
  const bool is_long = length > table.long_from, is_listed = !table.long_inverse_frequencies.empty();
  const auto& frequencies = is_long && is_listed ? table.long_inverse_frequencies : table.inverse_frequencies;
  // Dynamic NTK: s^(-2i / dims) with s = grown^(dims / (dims - 2)).
  const bool is_scaled = is_long && !is_listed;
  const double grown = table.dynamic_factor * length / table.long_from - table.dynamic_factor + 1;
  const auto power = -2.0 / static_cast<double>(2 * half - 2);
  for (size_t i = 0; i < half; ++i) {
    double frequency = frequencies[i];
    if (is_scaled && i > 0) frequency *= std::pow(grown, power * static_cast<double>(i));
    const double angle = std::max(position, 0) * frequency;
    out[i] = static_cast<float>(std::cos(angle) * factor);
    out[i + half] = static_cast<float>(std::sin(angle) * factor);
  }
}

void route(const Router& router, const float* logits, uint32_t* order, float* out) {
  const size_t n = router.experts, top_k = router.top_k;
  for (size_t i = 0; i < n; ++i) order[i] = static_cast<uint32_t>(i);
  const auto before = [&](uint32_t a, uint32_t b) {
    const float x = logits[a], y = logits[b];
    if (std::isnan(x) != std::isnan(y)) return std::isnan(x);
    return std::isnan(x) || x == y ? a < b : x > y;
  };
  std::partial_sort(order, order + top_k, order + n, before);
  const double largest = logits[order[0]];
  std::sort(order, order + top_k);
  const auto weight = [&](uint32_t expert) { return std::exp(logits[expert] - largest); };
  double chosen = 0, all = 0;
  for (size_t i = 0; i < top_k; ++i) chosen += weight(order[i]);
  for (uint32_t e = 0; e < n && router.softmax_before; ++e) all += weight(e);
  const double sum = router.softmax_before && !router.renormalizes ? all : chosen;
  for (size_t i = 0; i < top_k; ++i) {
    out[i] = static_cast<float>(order[i]);
    out[i + top_k] = static_cast<float>(weight(order[i]) / sum * router.scale);
  }
}

}  // namespace ops_reference
