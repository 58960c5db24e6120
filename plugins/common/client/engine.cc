// Calls of the engine service.
// Thread rule: see engine.h. Flow: see engine.h.
#include "client/engine.h"

namespace mortise::client {

Result<std::unique_ptr<Channel>> Channel::open(const mortise_engine* engine) {
  std::unique_ptr<Channel> out(new Channel());
  mortise_error error = c_error();
  const mortise_status status = engine->open_channel(engine->ctx, &out->channel_, &out->event_fd_, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  out->engine_ = engine;
  return out;
}

Channel::~Channel() {
  if (engine_ != nullptr) engine_->close_channel(engine_->ctx, channel_);
}

Result<uint64_t> Channel::submit(const std::vector<uint32_t>& prompt, std::string_view parameters,
                                 uint32_t flags) {
  mortise_request request{};
  request.size = sizeof(request);
  request.flags = flags;
  request.prompt = prompt.data();
  request.prompt_count = prompt.size();
  request.parameters = str(parameters);
  uint64_t id = 0;
  mortise_error error = c_error();
  const mortise_status status = engine_->submit(engine_->ctx, channel_, &request, &id, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  return id;
}

const mortise_event* Channel::next(int timeout_ms) {
  event_ = {};
  event_.size = sizeof(event_);
  const int32_t got = engine_->next_event(engine_->ctx, channel_, timeout_ms, &event_);
  closed_ = got < 0;
  return got == 1 ? &event_ : nullptr;
}

Error event_error(const mortise_event& event) {
  const bool known = event.error_code > MORTISE_OK && event.error_code <= MORTISE_INTERNAL;
  Error error{known ? static_cast<Code>(event.error_code) : Code::internal,
              std::string(view(event.error_where)), std::string(view(event.error_message))};
  if (event.type == MORTISE_EVENT_DONE) error = {Code::cancelled, "", "the request was cancelled"};
  return error;
}

std::string error_name(const Error& error) {
  switch (error.code) {
    case Code::unsupported:
      return "unsupported";
    case Code::bad_argument:
      return "bad_argument";
    case Code::bad_data:
      return "bad_data";
    case Code::no_memory:
      return "no_memory";
    case Code::io:
      return "io";
    case Code::cancelled:
      return "cancelled";
    case Code::limit:
      return "limit";
    case Code::not_found:
      return "not_found";
    case Code::overloaded:
      return "overloaded";
    default:
      return "internal";
  }
}

}  // namespace mortise::client
