// The loop of mode "jsonl".
// Thread rule: the front end's thread. Flow: see jsonl.h.
#include "jsonl.h"

#include <poll.h>

#include <optional>
#include <unordered_map>

#include "answer.h"
#include "client/engine.h"
#include "client/text.h"
#include "request.h"

namespace mortise::stdio {
namespace {

// How long to wait before a full queue is asked again: others may fill it, whose ends are not heard of here.
constexpr int kRetryMs = 5;
constexpr size_t kWriteBytes = 64 * 1024;

class Loop {
 public:
  Loop(const mortise_services& services, const client::Control& control, client::Channel& channel, int in,
       int out)
      : control_(control), channel_(channel), text_(services.text), lines_(in), out_fd_(out) {}

  Result<void> run() {
    while (!control_.stopping()) {
      MORTISE_CHECK(take_events());
      submit_waiting();
      MORTISE_CHECK(take_lines());
      MORTISE_CHECK(flush());
      const bool no_more = input_over_ || control_.draining();
      if (no_more && running_.empty() && !waiting_) return {};
      if (control_.drain_left_ms() == 0) return {};
      if (channel_.closed())
        return fail(Code::cancelled, "", "the engine ended before every answer was given");
      MORTISE_CHECK(wait());
    }
    return {};
  }

 private:
  Result<void> take_events() {
    while (const mortise_event* event = channel_.next(0)) {
      const auto found = running_.find(event->request);
      if (found == running_.end()) continue;
      if (found->second.add(*event, &out_)) running_.erase(found);
      if (out_.size() >= kWriteBytes) MORTISE_CHECK(flush());
    }
    return {};
  }

  Result<void> take_lines() {
    std::string line;
    while (!waiting_ && !input_over_ && !control_.draining()) {
      switch (lines_.next(&line)) {
        case client::LineReader::Got::line:
          take_line(line);
          break;
        case client::LineReader::Got::too_long:
          write_error(
              "null", "limit",
              Error{Code::limit, "", "the line is over " + std::to_string(client::kLineBytesMax) + " bytes"},
              &out_);
          break;
        case client::LineReader::Got::nothing:
          return {};
        case client::LineReader::Got::end:
          input_over_ = true;
          break;
      }
      MORTISE_CHECK(take_events());
    }
    return {};
  }

  void take_line(const std::string& line) {
    if (line.find_first_not_of(" \t\r\v\f") == std::string::npos) return;
    Request request;
    const Result<void> read = read_request(line, text_, &request);
    if (!read) return write_error(request.id, client::error_name(read.error()), read.error(), &out_);
    waiting_ = std::move(request);
    submit_waiting();
  }

  void submit_waiting() {
    if (!waiting_) return;
    const auto id = channel_.submit(waiting_->prompt, waiting_->parameters, 0);
    if (!id && id.error().code == Code::overloaded) return;  // the request stays, and no further line is read
    if (id)
      running_.emplace(*id, Answer(*waiting_));
    else  // the one limit that submit checks is the context's length
      write_error(waiting_->id,
                  id.error().code == Code::limit ? "context_length_exceeded" : client::error_name(id.error()),
                  id.error(), &out_);
    waiting_.reset();
  }

  Result<void> flush() {
    MORTISE_CHECK(client::write_all(out_fd_, out_));
    out_.clear();
    return {};
  }

  /// Until there is an event, input or a wish to end.
  Result<void> wait() {
    const bool reads = !waiting_ && !input_over_ && !control_.draining();
    pollfd fds[] = {{channel_.event_fd(), POLLIN, 0},
                    {control_.draining() ? -1 : control_.wake_fd(), POLLIN, 0},
                    {reads ? lines_.fd() : -1, POLLIN, 0}};
    int timeout_ms = waiting_ ? kRetryMs : -1;
    if (control_.draining()) timeout_ms = waiting_ ? kRetryMs : control_.drain_left_ms();
    poll(fds, 3, timeout_ms);
    return fds[2].revents != 0 ? lines_.fill() : Result<void>();
  }

  const client::Control& control_;
  client::Channel& channel_;
  const client::Text text_;
  client::LineReader lines_;
  const int out_fd_;
  std::unordered_map<uint64_t, Answer> running_;
  std::optional<Request> waiting_;  // read, but the queue was full
  bool input_over_ = false;
  std::string out_;
};

}  // namespace

Result<void> run_jsonl(const mortise_services& services, const client::Control& control, int in, int out) {
  MORTISE_TRY(channel, client::Channel::open(services.engine));
  return Loop(services, control, *channel, in, out).run();
}

}  // namespace mortise::stdio
