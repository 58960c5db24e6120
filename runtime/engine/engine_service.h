// The engine service: the C table through which front ends submit and fetch events.
// Thread rule: any thread of a front end. Flow: front end -> here -> Engine; Channel -> here -> front end.
#pragma once
#include <mortise/engine.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/engine.h"
#include "model/activation_sums.h"

namespace mortise {

constexpr uint32_t kScoresMax = 16;  // open at once; each holds two chunks of Score::kRowsMax rows

struct EngineFacts {
  uint32_t context = 0, vocab = 0, max_sequences = 0, max_batch_tokens = 0, queue = 0;
  std::string model, model_path, family;
};

class EngineService {
 public:
  EngineService(Engine& engine, const RequestParams& params, ActivationSums& sums, EngineFacts facts);
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

  struct OpenScore {
    explicit OpenScore(std::atomic<uint32_t>& count) : count(count) {}
    ~OpenScore() { --count; }
    std::atomic<uint32_t>& count;
    std::shared_ptr<Score> score;
    uint64_t id = 0;
  };
  Result<std::unique_ptr<OpenScore>> begin_score(std::vector<uint32_t> tokens);

  Engine& engine_;
  const RequestParams& params_;
  ActivationSums& sums_;
  const EngineFacts facts_;
  std::atomic<uint32_t> open_scores_{0};
  mortise_engine table_{};
};

}  // namespace mortise
