// The search for scales. Thread rule and flow: see awq.h.
#include "awq.h"

#include <algorithm>
#include <cmath>

namespace mortise::convert {
namespace {

constexpr float kLevels = 15;           // of 4 bits
constexpr double kSmallestMean = 1e-4;  // of |x|; a column that carries nothing is not blown up

std::vector<float> scales_at(const ColumnStatistics& columns, double alpha) {
  std::vector<float> out;
  double low = INFINITY, high = 0;
  for (const double mean : columns.mean_abs) {
    const double scale = std::pow(std::max(mean, kSmallestMean), alpha);
    low = std::min(low, scale);
    high = std::max(high, scale);
    out.push_back(static_cast<float>(scale));
  }
  // Centred on 1, so that the scaled weights stay within float16.
  const auto centre = static_cast<float>(std::sqrt(low * high));
  for (float& scale : out) scale /= centre;
  return out;
}

/// sum E[x^2] (round(w s) / s - w)^2 over one row; `row` is scratch.
double row_error(const float* w, uint64_t k, const std::vector<float>& scales,
                 const ColumnStatistics& columns, uint64_t group, std::vector<float>* row) {
  row->resize(k);
  for (uint64_t c = 0; c < k; ++c) (*row)[c] = w[c] * scales[c];
  double error = 0;
  for (uint64_t begin = 0; begin < k; begin += group) {
    const uint64_t end = std::min(k, begin + group);
    const auto [low, high] = std::minmax_element(row->begin() + static_cast<ptrdiff_t>(begin),
                                                 row->begin() + static_cast<ptrdiff_t>(end));
    const float step = std::max((*high - *low) / kLevels, 1e-5f);
    const float zero = std::clamp(std::round(-*low / step), 0.0f, kLevels);
    for (uint64_t c = begin; c < end; ++c) {
      const float code = std::clamp(std::round((*row)[c] / step) + zero, 0.0f, kLevels);
      const double off = static_cast<double>((code - zero) * step / scales[c]) - static_cast<double>(w[c]);
      error += columns.mean_square[c] * off * off;
    }
  }
  return error;
}

struct Search {
  const std::vector<Sample>& samples;
  const ColumnStatistics& columns;
  uint64_t group;
  double errors[kAlphaSteps];
};

void try_alpha(void* arg, uint32_t step, uint32_t) {
  auto& search = *static_cast<Search*>(arg);
  const std::vector<float> scales = scales_at(search.columns, static_cast<double>(step) / kAlphaSteps);
  std::vector<float> row;
  double error = 0;
  for (const Sample& sample : search.samples)
    for (uint64_t r = 0; r < sample.rows; ++r)
      error += row_error(sample.values.data() + r * sample.columns, sample.columns, scales, search.columns,
                         search.group, &row);
  search.errors[step] = error;
}

}  // namespace

std::vector<float> search_scales(Host host, const std::vector<Sample>& samples,
                                 const ColumnStatistics& columns, uint64_t group) {
  Search search{samples, columns, group, {}};
  host.c()->parallel(host.c()->ctx, kAlphaSteps, &try_alpha, &search);
  // The first of equals: alpha 0 leaves the weights alone.
  const auto best = std::min_element(std::begin(search.errors), std::end(search.errors));
  return scales_at(columns, static_cast<double>(best - std::begin(search.errors)) / kAlphaSteps);
}

}  // namespace mortise::convert
