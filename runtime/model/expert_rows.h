// The rows of a step, grouped by the expert that they are routed to: one entry, a route, for each row and
// each expert chosen for it. Grouping only moves rows, so that what a row becomes depends on the row alone.
// Thread rule: the engine thread; the buffers are filled by workers. Flow: Program sizes it at load, and
// groups, gathers and scatters in each step.
#pragma once
#include <cstdint>
#include <vector>

#include "host/memory.h"

namespace mortise {

class ExpertRows {
 public:
  /// Makes room for `routes` routes with inputs of k numbers and results of n; the largest call counts.
  void reserve(uint64_t routes, uint64_t k, uint64_t n);
  uint64_t bytes() const;
  /// False where there is no memory.
  bool allocate();

  /// routing [rows][stride]: numbers of the experts in the first `chosen` columns. A number that names none
  /// of `experts` (a router's mistake, or NaN) counts as the nearest.
  void group(const float* routing, uint64_t stride, uint64_t rows, uint64_t chosen, uint32_t experts);

  uint64_t routes() const { return places_.size(); }
  /// `row * chosen + i` of a route, i being its place among the row's experts. Routes are in the order of
  /// their experts, then of rows.
  uint64_t place(uint64_t route) const { return places_[route]; }
  /// The routes of an expert are [first(expert), first(expert + 1)).
  uint64_t first(uint32_t expert) const { return expert == 0 ? 0 : ends_[expert - 1]; }
  float* inputs() const { return static_cast<float*>(inputs_.get()); }    // [routes][k]
  float* results() const { return static_cast<float*>(results_.get()); }  // [routes][n]

 private:
  uint64_t routes_max_ = 0, input_floats_ = 0, result_floats_ = 0;
  std::vector<uint32_t> ends_;    // of each expert's routes
  std::vector<uint32_t> places_;  // of each route
  AlignedMemory inputs_, results_;
};

}  // namespace mortise
