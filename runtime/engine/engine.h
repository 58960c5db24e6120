// The engine: a bounded queue, and the one thread that steps.
// Thread rule: submit, cancel and stats from any thread; the scheduler belongs to the engine's thread. Flow:
// front ends submit through the service, events come back through their channels.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/request.h"
#include "engine/scheduler.h"
#include "engine/score.h"

namespace mortise {

struct EngineLimits {
  uint32_t queue = 0;          // requests that wait for a place among the running
  uint32_t max_sequences = 0;  // that run
  uint32_t context = 0;        // tokens of a sequence, by the pipeline
  uint64_t kv_tokens = 0;      // that the KV pool holds
  uint32_t vocab = 0;
};

class Engine {
 public:
  Engine(Scheduler& scheduler, const KvPool& blocks, const RequestParams& params,
         const std::vector<SamplerLink>& links, const EngineLimits& limits);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Errors as mortise_engine.submit says.
  Result<uint64_t> submit(std::shared_ptr<Channel> channel, std::vector<uint32_t> prompt,
                          std::string_view parameters, uint32_t flags);
  /// Queues a sequence whose logits go to `score`; waits while the queue is full.
  Result<uint64_t> submit_score(std::shared_ptr<Score> score, std::vector<uint32_t> tokens);
  void cancel(uint64_t id);
  /// A score has room again.
  void wake();
  /// Cancels what runs and waits, and ends the thread. Requests after it are refused.
  void stop();
  mortise_engine_stats stats() const;

 private:
  Result<void> check_prompt(const std::vector<uint32_t>& prompt, const Request& request) const;
  Result<uint64_t> enqueue(std::unique_ptr<Request> request, bool waits);
  void run();
  /// Waits for work and takes it. False at the end.
  bool take_work();
  void publish_stats();

  Scheduler& scheduler_;
  const KvPool& blocks_;
  const RequestParams& params_;
  const std::vector<SamplerLink>& links_;
  const EngineLimits limits_;

  mutable std::mutex mutex_;
  std::condition_variable work_, room_;
  std::deque<std::unique_ptr<Request>> queue_;
  std::vector<uint64_t> cancelled_;
  uint64_t next_id_ = 1;
  bool is_stopping_ = false;
  bool is_woken_ = false;
  mortise_engine_stats stats_{};
  bool is_held_up_ = false;  // engine thread: every sequence waits for its reader
  std::thread thread_;       // last: it uses all of the above
};

}  // namespace mortise
