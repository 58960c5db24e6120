// Divergence and its summary. Thread rule and flow: see distribution.h.
#include "distribution.h"

#include <algorithm>
#include <cmath>

namespace mortise::perplexity {

RowFigures compare_rows(const float* logits, const float* against, uint32_t vocab, uint32_t token) {
  const auto top = static_cast<uint32_t>(std::max_element(logits, logits + vocab) - logits);
  const auto top_against = static_cast<uint32_t>(std::max_element(against, against + vocab) - against);
  // With the largest taken off, no exponential overflows and each sum is at least 1.
  const double most = logits[top], most_against = against[top_against];
  double sum = 0, sum_against = 0, weighted = 0;
  for (uint32_t i = 0; i < vocab; ++i) {
    const double q = logits[i] - most, p = against[i] - most_against;
    sum += std::exp(q);
    const double e = std::exp(p);
    sum_against += e;
    if (e != 0) weighted += e * (p - q);
  }
  // log P - log Q of a token is p - q less the same constant for all of them.
  const double log_sum = std::log(sum), log_sum_against = std::log(sum_against);
  return {log_sum - (logits[token] - most), log_sum_against - (against[token] - most_against),
          std::max(0.0, weighted / sum_against - (log_sum_against - log_sum)), top == top_against};
}

void Figures::add(const RowFigures& row) {
  ++tokens;
  nll_sum += row.nll;
  nll_against_sum += row.nll_against;
  same_top += row.same_top ? 1 : 0;
  kl.push_back(row.kl);
}

void Figures::merge(const Figures& other) {
  tokens += other.tokens;
  nll_sum += other.nll_sum;
  nll_against_sum += other.nll_against_sum;
  same_top += other.same_top;
  kl.insert(kl.end(), other.kl.begin(), other.kl.end());
}

double Figures::perplexity() const { return std::exp(mean_nll()); }
double Figures::perplexity_against() const { return std::exp(mean_nll_against()); }

double Figures::kl_mean() const {
  double sum = 0;
  for (double value : kl) sum += value;
  return sum / static_cast<double>(tokens);
}

double Figures::kl_p99() const {
  if (kl.empty()) return 0;
  std::vector<double> sorted = kl;
  std::sort(sorted.begin(), sorted.end());
  const double at = 0.99 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const double part = at - static_cast<double>(below);
  if (part == 0) return sorted[below];
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

}  // namespace mortise::perplexity
