// Frequencies of the kinds of RoPE. Thread rule and flow: see rope.h.
#include "families/rope.h"

#include <algorithm>
#include <cmath>

namespace mortise::families {
namespace {

constexpr double kTau = 6.283185307179586476925286766559;

/// 0.1 * by * ln(factor) + 1.
double yarn_scale(double factor, double by) { return factor <= 1 ? 1 : 0.1 * by * std::log(factor) + 1; }

std::vector<double> yarn(const Rope& rope, std::vector<double> plain) {
  const double dims = 2.0 * static_cast<double>(plain.size());
  const auto pair_of = [&](double turns) {
    return dims * std::log(rope.original_context / (turns * kTau)) / (2 * std::log(rope.theta));
  };
  double low = pair_of(rope.beta_fast), high = pair_of(rope.beta_slow);
  if (rope.is_truncated) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dims - 1);
  if (low == high) high += 0.001;
  for (size_t i = 0; i < plain.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    plain[i] = plain[i] / rope.factor * ramp + plain[i] * (1 - ramp);
  }
  return plain;
}

std::vector<double> llama3(const Rope& rope, std::vector<double> plain) {
  for (double& frequency : plain) {
    const double turns = rope.original_context * frequency / kTau;
    const double kept =
        std::clamp((turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor), 0.0, 1.0);
    frequency = (1 - kept) * frequency / rope.factor + kept * frequency;
  }
  return plain;
}

Result<std::vector<double>> divided(std::vector<double> plain, const std::vector<double>& by,
                                    const char* what) {
  if (by.size() != plain.size())
    return fail(Code::bad_data, what,
                "has " + std::to_string(by.size()) + " factors instead of " + std::to_string(plain.size()) +
                    ", one for each pair of rotated columns");
  for (size_t i = 0; i < plain.size(); ++i) {
    if (!(by[i] > 0)) return fail(Code::bad_data, what, "has a factor that is not positive");
    plain[i] /= by[i];
  }
  return plain;
}

}  // namespace

Result<RopeTable> rope_table(const Rope& rope, uint32_t dims) {
  RopeTable out;
  std::vector<double> plain(dims / 2);
  for (uint32_t i = 0; i < dims / 2; ++i) plain[i] = std::pow(rope.theta, -2.0 * i / dims);
  if (!rope.divisors.empty()) {
    MORTISE_TRY(frequencies, divided(std::move(plain), rope.divisors, "rope_freqs.weight"));
    plain = std::move(frequencies);
  }
  switch (rope.kind) {
    case RopeKind::plain:
      break;
    case RopeKind::linear:
      for (double& frequency : plain) frequency /= rope.factor;
      break;
    case RopeKind::dynamic:
      out.dynamic_factor = rope.factor;
      out.long_from = static_cast<uint32_t>(rope.original_context);
      break;
    case RopeKind::yarn:
      plain = yarn(rope, std::move(plain));
      out.factor = rope.mscale != 0 && rope.mscale_all_dim != 0
                       ? yarn_scale(rope.factor, rope.mscale) / yarn_scale(rope.factor, rope.mscale_all_dim)
                       : yarn_scale(rope.factor, 1);
      break;
    case RopeKind::longrope: {
      MORTISE_TRY(long_ones, divided(plain, rope.long_factors, "long_factor"));
      MORTISE_TRY(short_ones, divided(std::move(plain), rope.short_factors, "short_factor"));
      plain = std::move(short_ones);
      out.long_inverse_frequencies = std::move(long_ones);
      out.long_from = static_cast<uint32_t>(rope.original_context);
      if (rope.factor > 1)
        out.factor = std::sqrt(1 + std::log(rope.factor) / std::log(rope.original_context));
      break;
    }
    case RopeKind::llama3:
      plain = llama3(rope, std::move(plain));
      break;
  }
  if (rope.attention_factor != 0) out.factor = rope.attention_factor;
  for (const double frequency : plain)
    if (!std::isfinite(frequency) || !std::isfinite(out.factor))
      return fail(Code::bad_data, "RoPE",
                  "its parameters give no finite frequencies; the metadata is damaged");
  out.inverse_frequencies = std::move(plain);
  return out;
}

uint32_t covered_context(const Rope& rope, uint32_t context, uint32_t most) {
  const bool is_stretched = rope.kind == RopeKind::yarn || rope.kind == RopeKind::dynamic;
  const double covered = is_stretched ? rope.factor * rope.original_context : 0;
  return static_cast<uint32_t>(std::clamp(covered, static_cast<double>(context), static_cast<double>(most)));
}

}  // namespace mortise::families
