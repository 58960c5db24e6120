// Activation-aware scaling: which columns of a weight deserve finer steps, by what passes through them.
// Thread rule: pure; the search runs on the pool. Flow: statistics of a calibration text -> scales per input
// column -> folded into the weights that make those columns.
// Source: "AWQ: Activation-aware Weight Quantization" (Lin et al. 2023): s = mean|x|^alpha, alpha by search.
// The error of an output is taken as sum E[x^2] dw^2, that is, columns count as uncorrelated: so the
// statistics of a text are two numbers per column.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/cpp/result.h>

#include <cstdint>
#include <vector>

namespace mortise::convert {

/// What a calibration text sent through the columns of a weight.
struct ColumnStatistics {
  std::vector<double> mean_abs, mean_square;
};

/// Rows of a weight [rows][columns] that the search looks at.
struct Sample {
  uint64_t rows = 0, columns = 0;
  std::vector<float> values;
};

constexpr int kAlphaSteps = 20;  // alpha = 0, 1/20 .. 19/20

/// What multiplies each column before it is rounded to `group`s of 4 bits (and divides what feeds it): the
/// best of kAlphaSteps for all samples together, which read the same columns. All 1 where none is better than
/// that.
std::vector<float> search_scales(Host host, const std::vector<Sample>& samples,
                                 const ColumnStatistics& columns, uint64_t group);

}  // namespace mortise::convert
