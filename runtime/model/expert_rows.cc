// ExpertRows: grouping by counting. Thread rule and flow: see expert_rows.h.
#include "model/expert_rows.h"

#include <algorithm>

namespace mortise {
namespace {

uint32_t expert_of(float number, uint32_t experts) {
  // A comparison with NaN is false.
  return number > 0 ? static_cast<uint32_t>(std::min(number, static_cast<float>(experts - 1))) : 0;
}

}  // namespace

void ExpertRows::reserve(uint64_t routes, uint64_t k, uint64_t n) {
  routes_max_ = std::max(routes_max_, routes);
  input_floats_ = std::max(input_floats_, routes * k);
  result_floats_ = std::max(result_floats_, routes * n);
}

uint64_t ExpertRows::bytes() const {
  return (input_floats_ + result_floats_) * sizeof(float) + routes_max_ * sizeof(uint32_t);
}

bool ExpertRows::allocate() {
  if (routes_max_ == 0) return true;
  inputs_.reset(allocate_aligned(input_floats_ * sizeof(float), 64));
  results_.reset(allocate_aligned(result_floats_ * sizeof(float), 64));
  places_.reserve(routes_max_);
  return inputs_ != nullptr && results_ != nullptr;
}

void ExpertRows::group(const float* routing, uint64_t stride, uint64_t rows, uint64_t chosen,
                       uint32_t experts) {
  ends_.assign(experts, 0);
  places_.resize(rows * chosen);
  const auto expert_at = [&](uint64_t place) {
    return expert_of(routing[place / chosen * stride + place % chosen], experts);
  };
  for (uint64_t place = 0; place < places_.size(); ++place) ++ends_[expert_at(place)];
  uint32_t sum = 0;
  for (uint32_t& end : ends_) {
    const uint32_t count = end;
    end = sum;  // the first route of the expert, for now
    sum += count;
  }
  for (uint64_t place = 0; place < places_.size(); ++place)
    places_[ends_[expert_at(place)]++] = static_cast<uint32_t>(place);
}

}  // namespace mortise
