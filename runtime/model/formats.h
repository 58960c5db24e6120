// The formats at hand, by the id that tensors name.
// Thread rule: read-only once made. Flow: catalogue of format parts -> here -> builder, packing, probe.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/format.h>

#include <string>
#include <vector>

#include "model/open_model.h"
#include "model/provider.h"

namespace mortise {

class Formats {
 public:
  explicit Formats(std::vector<Provider> providers) : providers_(std::move(providers)) {}

  /// Names without revision, as pins use them.
  std::vector<std::string> names() const;
  /// The provider of a format by its id with revision, or null.
  const Provider* find(std::string_view id) const;
  /// The provider of the tensor's format, after it has validated the tensor. Errors name file and tensor.
  Result<const Provider*> of(const mortise_tensor& tensor, const std::string& path) const;
  /// All elements of a tensor as float32.
  Result<std::vector<float>> values(const OpenModel& model, const mortise_tensor& tensor) const;

 private:
  std::vector<Provider> providers_;
};

}  // namespace mortise
