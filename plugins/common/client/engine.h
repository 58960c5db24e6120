// The engine service with C++ types: a channel and its requests.
// Thread rule: one thread per channel; cancel from any. Flow: submit, then next until each request's terminal
// event.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::client {

class Channel {
 public:
  static Result<std::unique_ptr<Channel>> open(const mortise_engine* engine);
  /// Cancels what still runs.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// The id of the queued request. `flags`: MORTISE_REQUEST_*; `parameters`: a JSON object or "".
  Result<uint64_t> submit(const std::vector<uint32_t>& prompt, std::string_view parameters, uint32_t flags);
  void cancel(uint64_t id) { engine_->cancel(engine_->ctx, id); }
  /// The next event, whose pointers live until the next call; null where none came within timeout_ms (-1: for
  /// ever) or the channel is closed.
  const mortise_event* next(int timeout_ms);
  bool closed() const { return closed_; }
  /// Readable while there may be events.
  int event_fd() const { return event_fd_; }

 private:
  Channel() = default;

  const mortise_engine* engine_ = nullptr;
  void* channel_ = nullptr;
  int event_fd_ = -1;
  bool closed_ = false;
  mortise_event event_{};
};

/// What an ended request's error says, as a value.
Error event_error(const mortise_event& event);

/// The machine's name of an error's code, e.g. "bad_argument".
std::string error_name(const Error& error);

}  // namespace mortise::client
