// Sums over what linear weights are given: per weight and column, of x^2 and |x| over all rows that pass.
// Thread rule: add on the engine thread, the rest on any. Flow: a tool switches it on, the program adds every
// step's rows, the tool reads the sums. While it is off a step pays for one relaxed load.
#pragma once
#include <mortise/cpp/result.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "host/pool.h"
#include "model/graph.h"

namespace mortise {

class ActivationSums {
 public:
  /// The graph outlives it.
  explicit ActivationSums(const Graph& graph) : graph_(graph) {}

  /// On: from zero, from the next step on. Off: the sums stay as they are until it is switched on again.
  void collect(bool on);
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

  /// Adds rows of x, `stride` floats apart, that matrix `index` of the graph is given. Each column is one
  /// chain of sums in the order of the rows, so neither chunks nor threads change a bit.
  void add(uint32_t index, const float* x, uint64_t stride, uint64_t rows, Pool& pool);

  /// Copies what a tensor's matrix was given, of a tensor of rank 3 slice `slice`. Arrays of `columns`
  /// numbers, either may be null. Errors: not_found where it is no linear weight, bad_argument where it has
  /// other columns.
  Result<uint64_t> read(std::string_view tensor, uint64_t slice, uint64_t columns, double* squares,
                        double* magnitudes) const;

 private:
  struct Sums {
    uint64_t rows = 0;
    std::vector<double> squares, magnitudes;  // [k]; empty until the first row
  };

  const Graph& graph_;
  std::atomic<bool> is_on_{false};
  mutable std::mutex mutex_;
  std::vector<Sums> sums_;  // by matrix
};

}  // namespace mortise
