// What front ends are given: arguments, text, engine, the opened model, and further models beside it.
// Thread rule: made on the loading thread; the calls from any thread of a front end. Flow: Loaded -> here ->
// front ends.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/frontend.h>

#include <memory>
#include <mutex>
#include <vector>

#include "engine/loaded.h"
#include "engine/model_service.h"
#include "engine/session.h"

namespace mortise {

class Services {
 public:
  /// Everything given outlives it.
  static Result<std::unique_ptr<Services>> make(Loaded& loaded, const RunOptions& options);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  const mortise_services& c() const { return table_; }

 private:
  struct Calls;
  struct Opened;
  Services(Loaded& loaded, const RunOptions& options);
  Result<std::shared_ptr<Opened>> open(std::string_view model_path);

  Loaded& loaded_;
  const RunOptions& options_;
  std::vector<mortise_str> arguments_;
  std::unique_ptr<ModelService> model_;
  mortise_services table_{};
  std::mutex mutex_;
  std::vector<std::shared_ptr<Opened>> opened_;  // Opened is whole in services.cc alone
};

}  // namespace mortise
