// Requests and events of the test's own engine, and an event's C form.
// Thread rule: plain values. Flow: a test's script makes events out of a request; fake_engine.h hands them
// out.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <string>
#include <vector>

namespace fake {

struct Request {
  uint64_t id = 0;
  std::vector<uint32_t> prompt;
  std::string parameters;
  uint32_t flags = 0;
};

struct Logprob {
  float logprob = 0;
  std::vector<uint32_t> top_ids;
  std::vector<float> top_logprobs;
};

struct Event {
  uint32_t type = MORTISE_EVENT_DELTA;
  std::string text;
  std::vector<uint32_t> tokens;
  std::vector<Logprob> logprobs;
  int32_t finish = 0;
  uint64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
  uint64_t submitted_ns = 0, first_token_ns = 0, finished_ns = 0;
  int32_t error_code = 0;
  std::string error_where, error_message, error_id;
  uint64_t request = 0;
};

inline Event delta(std::string text, std::vector<uint32_t> tokens) {
  Event event;
  event.text = std::move(text);
  event.tokens = std::move(tokens);
  return event;
}

inline Event done(int32_t finish = MORTISE_FINISH_STOP) {
  Event event;
  event.type = MORTISE_EVENT_DONE;
  event.finish = finish;
  return event;
}

/// The C form; it points into `event` and `logprobs`.
inline void fill(const Event& event, std::vector<mortise_logprob>* logprobs, mortise_event* out) {
  logprobs->clear();
  for (const Logprob& one : event.logprobs)
    logprobs->push_back({one.logprob, static_cast<uint32_t>(one.top_ids.size()), one.top_ids.data(),
                         one.top_logprobs.data()});
  out->type = event.type;
  out->request = event.request;
  out->text = mortise::str(event.text);
  out->tokens = event.tokens.data();
  out->token_count = event.tokens.size();
  out->logprobs = logprobs->empty() ? nullptr : logprobs->data();
  out->finish = event.finish;
  out->stop_index = -1;
  out->prompt_tokens = event.prompt_tokens;
  out->completion_tokens = event.completion_tokens;
  out->cached_tokens = event.cached_tokens;
  out->submitted_ns = event.submitted_ns;
  out->first_token_ns = event.first_token_ns;
  out->finished_ns = event.finished_ns;
  out->error_code = event.error_code;
  out->error_where = mortise::str(event.error_where);
  out->error_message = mortise::str(event.error_message);
  out->error_id = mortise::str(event.error_id);
}

}  // namespace fake
