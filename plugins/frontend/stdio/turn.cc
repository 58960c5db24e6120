// Streaming one answer.
// Thread rule: see turn.h. Flow: see turn.h.
#include "turn.h"

#include <poll.h>

#include <cstdio>

#include "client/reader.h"

namespace mortise::stdio {
namespace {

class Streamer {
 public:
  Streamer(client::Channel& channel, client::Control& control, Screen& screen)
      : channel_(channel), control_(control), screen_(screen) {}

  Result<Outcome> run(const mortise_services& services, const Turn& turn) {
    if (!turn.chat_request.empty()) {
      auto sink = [this](int32_t what, std::string_view text) { show(what, text); };
      MORTISE_TRY(reader, client::Reader::open(services.text, turn.chat_request, sink));
      reader_ = std::move(reader);
    }
    control_.take_interrupt();  // one from before this question is not meant for its answer
    MORTISE_TRY(id, channel_.submit(turn.prompt, turn.parameters, MORTISE_REQUEST_WAIT));
    bool over = false;
    while (!over) {
      while (const mortise_event* event = over ? nullptr : channel_.next(0)) {
        if (event->request != id) continue;
        MORTISE_CHECK(take(*event, &over));
      }
      if (over) break;
      if (channel_.closed()) return fail(Code::cancelled, "", "the engine ended before the answer did");
      if (control_.take_interrupt() || control_.stopping() || control_.drain_left_ms() == 0)
        channel_.cancel(id);
      wait();
    }
    MORTISE_CHECK(screen_.end_line());
    return outcome_;
  }

 private:
  void wait() {
    // A stop stays readable: it was heeded above, and its cancel answers by an event.
    pollfd fds[] = {{channel_.event_fd(), POLLIN, 0},
                    {control_.stopping() ? -1 : control_.wake_fd(), POLLIN, 0}};
    constexpr int kCancelMs = 10;
    const int left_ms = control_.drain_left_ms();
    poll(fds, 2, left_ms == 0 ? kCancelMs : left_ms);
  }

  Result<void> take(const mortise_event& event, bool* over) {
    if (reader_)
      reader_->feed(event);
    else
      show(MORTISE_CHAT_CONTENT, view(event.text));
    if (event.type == MORTISE_EVENT_ERROR) {
      MORTISE_CHECK(screen_.end_line());
      return pass(client::event_error(event));
    }
    if (event.type == MORTISE_EVENT_DONE) {
      *over = true;
      if (reader_) reader_->finish();
      outcome_.cancelled = event.finish == MORTISE_FINISH_CANCELLED;
      outcome_.out_of_tokens = event.finish == MORTISE_FINISH_LENGTH;
      outcome_.prompt_tokens = event.prompt_tokens;
      outcome_.completion_tokens = event.completion_tokens;
      outcome_.cached_tokens = event.cached_tokens;
      if (event.first_token_ns != 0) {
        outcome_.first_token_s = static_cast<double>(event.first_token_ns - event.submitted_ns) / 1e9;
        outcome_.decode_s = static_cast<double>(event.finished_ns - event.first_token_ns) / 1e9;
      }
    }
    return written_;
  }

  void show(int32_t what, std::string_view text) {
    if (!written_) return;
    if (what == MORTISE_CHAT_REASONING) {
      written_ = screen_.reasoning(text);
      return;
    }
    outcome_.content += text;
    written_ = screen_.answer(text);
  }

  client::Channel& channel_;
  client::Control& control_;
  Screen& screen_;
  std::unique_ptr<client::Reader> reader_;
  Outcome outcome_;
  Result<void> written_;
};

}  // namespace

std::string Outcome::figures() const {
  char text[256];
  const double speed =
      completion_tokens > 1 && decode_s > 0 ? static_cast<double>(completion_tokens - 1) / decode_s : 0.0;
  std::snprintf(text, sizeof(text),
                "time to first token %.2f s, %.1f tokens/s, %llu prompt tokens (%llu cached), %llu tokens",
                first_token_s, speed, static_cast<unsigned long long>(prompt_tokens),
                static_cast<unsigned long long>(cached_tokens),
                static_cast<unsigned long long>(completion_tokens));
  return text;
}

Result<Outcome> answer(const mortise_services& services, client::Channel& channel, client::Control& control,
                       const Turn& turn, Screen& screen) {
  return Streamer(channel, control, screen).run(services, turn);
}

}  // namespace mortise::stdio
