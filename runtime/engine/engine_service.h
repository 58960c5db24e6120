// The engine service: the C table through which front ends submit and fetch events.
// Thread rule: any thread of a front end. Flow: front end -> here -> Engine; Channel -> here -> front end.
#pragma once
#include <mortise/engine.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/engine.h"

namespace mortise {

struct EngineFacts {
  uint32_t context = 0, vocab = 0, max_sequences = 0, max_batch_tokens = 0, queue = 0;
  std::string model, model_path, family;
};

class EngineService {
 public:
  EngineService(Engine& engine, const RequestParams& params, EngineFacts facts);
  EngineService(const EngineService&) = delete;
  EngineService& operator=(const EngineService&) = delete;

  const mortise_engine& c() const { return table_; }

 private:
  struct Calls;
  /// A channel as a front end holds it, with the requests that are not over.
  struct Open {
    std::shared_ptr<Channel> channel;
    std::mutex mutex;
    std::map<uint64_t, bool> live;
  };

  Engine& engine_;
  const RequestParams& params_;
  const EngineFacts facts_;
  mortise_engine table_{};
};

}  // namespace mortise
