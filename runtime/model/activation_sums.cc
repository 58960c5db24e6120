// ActivationSums: columns are shared out, rows are not. Thread rule and flow: see activation_sums.h.
#include "model/activation_sums.h"

#include <algorithm>
#include <cmath>

namespace mortise {
namespace {

constexpr uint64_t kColumnsPerTask = 256;

struct Job {
  const float* x;
  uint64_t stride, rows, k;
  double *squares, *magnitudes;
};

void add_columns(void* arg, uint32_t task, uint32_t) {
  const Job& job = *static_cast<const Job*>(arg);
  const uint64_t begin = task * kColumnsPerTask, end = std::min(begin + kColumnsPerTask, job.k);
  for (uint64_t row = 0; row < job.rows; ++row) {
    const float* x = job.x + row * job.stride;
    for (uint64_t j = begin; j < end; ++j) {
      const double value = x[j];
      job.squares[j] += value * value;
      job.magnitudes[j] += std::fabs(value);
    }
  }
}

}  // namespace

void ActivationSums::collect(bool on) {
  const std::lock_guard lock(mutex_);
  if (on) sums_.assign(graph_.matrices.size(), {});
  is_on_.store(on, std::memory_order_relaxed);
}

void ActivationSums::add(uint32_t index, const float* x, uint64_t stride, uint64_t rows, Pool& pool) {
  const std::lock_guard lock(mutex_);
  if (index >= sums_.size()) return;
  Sums& sums = sums_[index];
  const uint64_t k = graph_.matrices[index].k;
  sums.squares.resize(k);
  sums.magnitudes.resize(k);
  sums.rows += rows;
  Job job{x, stride, rows, k, sums.squares.data(), sums.magnitudes.data()};
  pool.parallel(static_cast<uint32_t>((k + kColumnsPerTask - 1) / kColumnsPerTask), add_columns, &job);
}

Result<uint64_t> ActivationSums::read(std::string_view tensor, uint64_t slice, uint64_t columns,
                                      double* squares, double* magnitudes) const {
  // Of a tensor that several matrices are cut out of, the first one's x is that of all.
  size_t found = graph_.matrices.size();
  for (size_t i = 0; i < graph_.matrices.size(); ++i) {
    const Matrix& m = graph_.matrices[i];
    if (!m.is_weight || view(m.tensor->name) != tensor || m.slice != slice) continue;
    if (found == graph_.matrices.size() || m.row0 < graph_.matrices[found].row0) found = i;
  }
  if (found == graph_.matrices.size())
    return fail(Code::not_found, std::string(tensor), "is no linear weight of this model");
  const uint64_t k = graph_.matrices[found].k;
  if (columns != k)
    return fail(Code::bad_argument, std::string(tensor),
                "has " + std::to_string(k) + " columns, not " + std::to_string(columns));
  const std::lock_guard lock(mutex_);
  const Sums& sums = found < sums_.size() ? sums_[found] : Sums();
  const auto copy = [&](const std::vector<double>& from, double* to) {
    if (to == nullptr) return;
    std::fill_n(to, columns, 0.0);
    std::copy(from.begin(), from.end(), to);
  };
  copy(sums.squares, squares);
  copy(sums.magnitudes, magnitudes);
  return sums.rows;
}

}  // namespace mortise
