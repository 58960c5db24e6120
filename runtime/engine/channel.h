// A front end's queue of events. What a slow reader has not fetched is merged per request, so a queue never
// holds more entries than the request has, and no more text than their answers. Thread rule: push on the
// engine thread, next on any thread of the front end. Flow: engine -> here -> front end.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace mortise {

struct TokenLogprob {
  float logprob = 0;
  std::vector<uint32_t> top_ids;
  std::vector<float> top_logprobs;
};

/// An event with everything that it owns; the fields as in mortise_event.
struct Event {
  mortise_event_type type = MORTISE_EVENT_DELTA;
  uint64_t request = 0;
  std::string text;
  std::vector<uint32_t> tokens;
  std::vector<TokenLogprob> logprobs;
  bool has_logprobs = false;
  int32_t finish = 0, stop_index = -1;
  uint64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
  uint64_t submitted_ns = 0, first_token_ns = 0, finished_ns = 0;
  Error error;
  std::string error_id;
};

class Channel {
 public:
  static Result<std::shared_ptr<Channel>> make();
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void push(Event event);
  /// Waits up to timeout_ms (-1: for ever). 1: `out` is filled, its pointers good until the next call; 0:
  /// nothing in time; -1: closed.
  int32_t next(int32_t timeout_ms, mortise_event* out);
  void close();
  int32_t event_fd() const { return event_fd_; }

 private:
  explicit Channel(int32_t event_fd) : event_fd_(event_fd) {}
  void show(mortise_event* out);

  const int32_t event_fd_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<uint64_t> order_;  // requests with something unread
  std::unordered_map<uint64_t, Event> unread_;
  bool is_closed_ = false;
  Event current_;
  std::vector<mortise_logprob> current_logprobs_;
};

}  // namespace mortise
