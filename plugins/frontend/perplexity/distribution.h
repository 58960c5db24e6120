// Two models' distributions of the next token, side by side, in double.
// Thread rule: plain functions and values. Flow: a row of logits each -> figures of a position -> figures of
// a range of positions.
#pragma once
#include <cstdint>
#include <vector>

namespace mortise::perplexity {

/// One position. P is the distribution of the reference, Q that of the model that is judged.
struct RowFigures {
  double nll = 0;          // -log Q(token), nats
  double nll_against = 0;  // -log P(token)
  double kl = 0;           // KL(P || Q) = sum over all tokens of P log(P / Q), nats
  bool same_top = false;   // both have the same likeliest token; of equal ones the lowest id counts
};

/// Logits [vocab] of Q and P. A token that P rules out (-inf) adds nothing to the divergence.
RowFigures compare_rows(const float* logits, const float* against, uint32_t vocab, uint32_t token);

/// Sums over positions, in their order.
struct Figures {
  uint64_t tokens = 0;  // scored
  double nll_sum = 0, nll_against_sum = 0;
  uint64_t same_top = 0;
  std::vector<double> kl;  // of each

  void add(const RowFigures& row);
  void merge(const Figures& other);

  double mean_nll() const { return nll_sum / static_cast<double>(tokens); }
  double mean_nll_against() const { return nll_against_sum / static_cast<double>(tokens); }
  double perplexity() const;
  double perplexity_against() const;
  /// perplexity() - perplexity_against(), as quantizations are quoted ("+0.17").
  double increase() const { return perplexity() - perplexity_against(); }
  double kl_mean() const;
  /// The 99th percentile, interpolated between the two nearest (numpy's default).
  double kl_p99() const;
  double top1_agreement() const { return static_cast<double>(same_top) / static_cast<double>(tokens); }
};

}  // namespace mortise::perplexity
