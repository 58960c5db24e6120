// Engine: queue and thread. Thread rule and flow: see engine.h.
#include "engine/engine.h"

#include <algorithm>

#include "host/clock.h"
#include "host/threads.h"

namespace mortise {

Engine::Engine(Scheduler& scheduler, const KvPool& blocks, const RequestParams& params,
               const std::vector<SamplerLink>& links, const EngineLimits& limits)
    : scheduler_(scheduler), blocks_(blocks), params_(params), links_(links), limits_(limits) {
  stats_.size = sizeof(stats_);
  stats_.kv_blocks = blocks.size();
  thread_ = start_thread("engine", [this] { run(); });
}

Engine::~Engine() { stop(); }

void Engine::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  work_.notify_all();
  room_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> Engine::check_prompt(const std::vector<uint32_t>& prompt, const Request& request) const {
  if (prompt.empty()) return fail(Code::bad_argument, "prompt", "is empty; give at least one token");
  for (uint32_t id : prompt)
    if (id >= limits_.vocab)
      return fail(Code::bad_argument, "tokens",
                  "holds " + std::to_string(id) + ", but the vocabulary has " +
                      std::to_string(limits_.vocab) + " tokens");
  // Something must be left for an answer, unless none is asked for.
  const uint64_t need = prompt.size() + (request.max_tokens > 0 ? 1 : 0);
  const std::string has = " tokens, but the prompt has " + std::to_string(prompt.size());
  if (need > limits_.context)
    return fail(Code::limit, "prompt",
                "This model's maximum context length is " + std::to_string(limits_.context) + has +
                    (prompt.size() == limits_.context ? " and leaves no room for an answer" : "") +
                    "; shorten the prompt or raise model.context");
  if (need > limits_.kv_tokens)
    return fail(Code::limit, "prompt",
                "The KV memory holds " + std::to_string(limits_.kv_tokens) + has +
                    "; shorten the prompt or raise kv.memory");
  return {};
}

Result<uint64_t> Engine::submit(std::shared_ptr<Channel> channel, std::vector<uint32_t> prompt,
                                std::string_view parameters, uint32_t flags) {
  auto request = std::make_unique<Request>();
  MORTISE_CHECK(params_.read(parameters, (flags & MORTISE_REQUEST_IGNORE_UNKNOWN) != 0, links_, limits_.vocab,
                             request.get()));
  MORTISE_CHECK(check_prompt(prompt, *request));
  request->channel = std::move(channel);
  request->prompt = std::move(prompt);
  request->caches = (flags & MORTISE_REQUEST_NO_CACHE) == 0;
  return enqueue(std::move(request), (flags & MORTISE_REQUEST_WAIT) != 0);
}

Result<uint64_t> Engine::submit_score(std::shared_ptr<Score> score, std::vector<uint32_t> tokens) {
  auto request = std::make_unique<Request>();
  request->max_tokens = 0;
  request->caches = false;
  MORTISE_CHECK(check_prompt(tokens, *request));
  request->score = std::move(score);
  request->prompt = std::move(tokens);
  return enqueue(std::move(request), true);
}

Result<uint64_t> Engine::enqueue(std::unique_ptr<Request> request, bool waits) {
  request->submitted_ns = now_ns();
  std::unique_lock lock(mutex_);
  if (waits) room_.wait(lock, [&] { return is_stopping_ || queue_.size() < limits_.queue; });
  if (is_stopping_) return fail(Code::cancelled, "engine", "the program is ending");
  if (queue_.size() >= limits_.queue)
    return fail(Code::overloaded, "engine.queue",
                std::to_string(queue_.size()) + " requests are waiting already; try again later");
  const uint64_t id = next_id_++;
  request->id = id;
  queue_.push_back(std::move(request));
  work_.notify_one();
  return id;
}

void Engine::cancel(uint64_t id) {
  std::lock_guard lock(mutex_);
  cancelled_.push_back(id);
  work_.notify_one();
}

void Engine::wake() {
  std::lock_guard lock(mutex_);
  is_woken_ = true;
  work_.notify_one();
}

mortise_engine_stats Engine::stats() const {
  std::lock_guard lock(mutex_);
  mortise_engine_stats out = stats_;
  out.waiting += static_cast<uint32_t>(queue_.size());
  return out;
}

void Engine::publish_stats() {
  const SchedulerStats& s = scheduler_.stats();
  std::lock_guard lock(mutex_);
  stats_.running = static_cast<uint32_t>(scheduler_.running());
  stats_.waiting = static_cast<uint32_t>(scheduler_.waiting());
  stats_.kv_blocks_used = blocks_.size() - blocks_.available();
  stats_.kv_blocks_cached = blocks_.cached();
  stats_.steps = s.steps;
  stats_.preemptions = s.preemptions;
  stats_.prompt_tokens = s.prompt_tokens;
  stats_.cached_tokens = s.cached_tokens;
  stats_.completion_tokens = s.completion_tokens;
  stats_.requests_done = s.requests_done;
  stats_.requests_failed = s.requests_failed;
  stats_.step_ns = s.step_ns;
  stats_.host_ns = s.host_ns;
  stats_.steps_failed = s.steps_failed;
}

bool Engine::take_work() {
  std::vector<uint64_t> cancelled;
  std::vector<std::unique_ptr<Request>> requests;
  bool is_over = false;
  {
    std::unique_lock lock(mutex_);
    const auto has_place = [&] { return scheduler_.active() + requests.size() < limits_.max_sequences; };
    const auto is_busy = [&] { return scheduler_.running() + scheduler_.waiting() > 0 && !is_held_up_; };
    work_.wait(lock, [&] {
      return is_stopping_ || is_woken_ || !cancelled_.empty() || (!queue_.empty() && has_place()) ||
             is_busy();
    });
    is_woken_ = false;
    cancelled.swap(cancelled_);
    is_over = is_stopping_;
    // A request may end before it has begun.
    while (!queue_.empty() && (is_over || has_place())) {
      requests.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    for (auto at = queue_.begin(); at != queue_.end();) {
      const bool ends = std::find(cancelled.begin(), cancelled.end(), (*at)->id) != cancelled.end();
      if (ends) requests.push_back(std::move(*at));
      at = ends ? queue_.erase(at) : at + 1;
    }
  }
  if (!requests.empty()) room_.notify_all();
  for (auto& request : requests) scheduler_.add(std::move(request));
  for (uint64_t id : cancelled) scheduler_.cancel(id);
  // What was queued before the end was taken with it: nothing accepted goes without its last event.
  return !is_over;
}

void Engine::run() {
  // Without memory the requests at hand end, not the program: their blocks and texts are free again then.
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = take_work();
      if (goes_on) is_held_up_ = !scheduler_.step();
    } catch (const std::exception& e) {
      scheduler_.fail_all(Error{Code::no_memory, "engine", std::string("a step failed: ") + e.what()});
    }
    publish_stats();
  }
  scheduler_.cancel_all();
  publish_stats();
}

}  // namespace mortise
