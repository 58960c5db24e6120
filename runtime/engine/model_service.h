// The model service: the opened model for tools that read rows of its tensors and write other models.
// Thread rule: made on the loading thread; the calls from any thread, workers too where frontend.h says so.
// Flow: front end -> here -> OpenModel, format and weights plugins.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/frontend.h>

#include <memory>
#include <mutex>

#include "model/formats.h"
#include "model/open_model.h"
#include "model/parts.h"

namespace mortise {

class ModelService {
 public:
  /// Everything given outlives it.
  static Result<std::unique_ptr<ModelService>> make(const OpenModel& model, Parts& parts);
  ModelService(const ModelService&) = delete;
  ModelService& operator=(const ModelService&) = delete;

  const mortise_model_service& c() const { return table_; }

 private:
  struct Calls;
  ModelService(const OpenModel& model, Parts& parts, Formats formats);
  Result<void> read_rows(const mortise_tensor& tensor, uint64_t row0, uint64_t rows, float* out) const;
  Result<Provider> writer(std::string_view name);

  const OpenModel& model_;
  Parts& parts_;
  std::mutex parts_mutex_;  // parts are made by one thread at a time
  const Formats formats_;
  mortise_model_service table_{};
};

}  // namespace mortise
