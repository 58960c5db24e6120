// An engine and a text service of the test's own, behind the structs of frontend.h.
// Thread rule: as the real ones: any thread. Flow: a test scripts the answers, a front end asks for them.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "plugins/frontend/fake_event.h"

namespace fake {

class Engine {
 public:
  /// Gives a request's events; by default an empty answer.
  std::function<std::vector<Event>(const Request&)> script = [](const Request&) {
    return std::vector{done()};
  };
  /// What submit refuses; by default nothing.
  std::function<mortise::Result<void>(const Request&)> check = [](const Request&) {
    return mortise::Result<void>();
  };
  size_t queue = 256;  // unanswered requests that submit takes
  bool hold = false;   // events wait for release()
  uint32_t context = 4096, max_sequences = 32, max_batch_tokens = 512, vocab = 300;
  std::vector<const mortise_param*> params;

  Engine() {
    table_ = {sizeof(mortise_engine),
              0,
              this,
              open_channel,
              close_channel,
              submit,
              cancel,
              next_event,
              info,
              stats,
              parameters};
    fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  }
  ~Engine() { close(fd_); }

  const mortise_engine* get() const { return &table_; }

  /// Delivers what a held request answers.
  void release(uint64_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Event& event : held_[id]) events_.push_back(std::move(event));
    held_.erase(id);
    wake();
  }
  /// Waits until `count` requests were taken in all.
  std::vector<Request> wait_for(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return requests_.size() >= count; });
    return requests_;
  }
  size_t refused() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return refused_;
  }
  std::set<uint64_t> cancelled() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return cancelled_;
  }
  bool channel_open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return open_;
  }

 private:
  static Engine& self(void* ctx) { return *static_cast<Engine*>(ctx); }
  void wake() {
    changed_.notify_all();
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));
  }

  static mortise_status open_channel(void* ctx, void** channel, int32_t* event_fd, mortise_error*) {
    self(ctx).open_ = true;
    *channel = ctx;
    *event_fd = self(ctx).fd_;
    return MORTISE_OK;
  }
  static void close_channel(void* ctx, void*) {
    const std::lock_guard<std::mutex> lock(self(ctx).mutex_);
    self(ctx).open_ = false;
    self(ctx).held_.clear();
    self(ctx).events_.clear();
    self(ctx).unanswered_.clear();
  }
  static mortise_status submit(void* ctx, void*, const mortise_request* in, uint64_t* id,
                               mortise_error* error) {
    Engine& engine = self(ctx);
    const std::lock_guard<std::mutex> lock(engine.mutex_);
    Request request{engine.requests_.size() + 1,
                    {in->prompt, in->prompt + in->prompt_count},
                    std::string(mortise::view(in->parameters)),
                    in->flags};
    if (const auto checked = engine.check(request); !checked) return mortise::to_c(checked.error(), error);
    if (engine.unanswered_.size() >= engine.queue) {
      ++engine.refused_;
      return mortise::to_c({mortise::Code::overloaded, "", "the queue is full"}, error);
    }
    *id = request.id;
    engine.unanswered_.insert(request.id);
    std::vector<Event> events = engine.script(request);
    for (Event& event : events) {
      event.request = request.id;
      if (event.type != MORTISE_EVENT_DELTA && event.prompt_tokens == 0)
        event.prompt_tokens = request.prompt.size();
    }
    engine.requests_.push_back(std::move(request));
    auto& to = engine.held_[*id];
    to = std::move(events);
    if (!engine.hold) {
      for (Event& event : to) engine.events_.push_back(std::move(event));
      engine.held_.erase(*id);
    }
    engine.wake();
    return MORTISE_OK;
  }
  static void cancel(void* ctx, uint64_t id) {
    Engine& engine = self(ctx);
    const std::lock_guard<std::mutex> lock(engine.mutex_);
    engine.cancelled_.insert(id);
    if (engine.unanswered_.count(id) == 0) return;
    engine.held_.erase(id);
    std::deque<Event> kept;
    for (Event& event : engine.events_)
      if (event.request != id) kept.push_back(std::move(event));
    engine.events_ = std::move(kept);
    Event end = done(MORTISE_FINISH_CANCELLED);
    end.request = id;
    engine.events_.push_back(std::move(end));
    engine.wake();
  }
  static int32_t next_event(void* ctx, void*, int32_t timeout_ms, mortise_event* out) {
    Engine& engine = self(ctx);
    std::unique_lock<std::mutex> lock(engine.mutex_);
    const auto ready = [&] { return !engine.events_.empty(); };
    if (timeout_ms < 0)
      engine.changed_.wait(lock, ready);
    else
      engine.changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready);
    if (!ready()) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(engine.fd_, &count, sizeof(count));
      return 0;
    }
    engine.current_ = std::move(engine.events_.front());
    engine.events_.pop_front();
    if (engine.current_.type != MORTISE_EVENT_DELTA) engine.unanswered_.erase(engine.current_.request);
    fill(engine.current_, &engine.logprobs_, out);
    return 1;
  }
  static void info(void* ctx, mortise_engine_info* out) {
    const Engine& engine = self(ctx);
    out->context = engine.context;
    out->vocab = engine.vocab;
    out->max_sequences = engine.max_sequences;
    out->max_batch_tokens = engine.max_batch_tokens;
    out->queue = static_cast<uint32_t>(engine.queue);
    out->model = mortise::str("fake-model");
    out->model_path = mortise::str("fake-model.bin");
    out->family = mortise::str("fake");
  }
  static void stats(void*, mortise_engine_stats*) {}
  static const mortise_param* const* parameters(void* ctx, uint32_t* count) {
    *count = static_cast<uint32_t>(self(ctx).params.size());
    return self(ctx).params.data();
  }

  mortise_engine table_{};
  int fd_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Request> requests_;
  std::set<uint64_t> unanswered_, cancelled_;
  std::map<uint64_t, std::vector<Event>> held_;
  std::deque<Event> events_;
  Event current_;
  std::vector<mortise_logprob> logprobs_;
  size_t refused_ = 0;
  bool open_ = false;
};

}  // namespace fake
