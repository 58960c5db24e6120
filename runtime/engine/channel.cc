// Channel: see channel.h. The eventfd is readable exactly while something is unread.
#include "engine/channel.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>

namespace mortise {
namespace {

template <class T>
void append(std::vector<T>* to, std::vector<T>&& from) {
  to->insert(to->end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Adds a later event of the same request to an unread one.
void merge(Event* to, Event&& from) {
  Event before = std::move(*to);
  *to = std::move(from);
  before.text += to->text;
  to->text = std::move(before.text);
  append(&before.tokens, std::move(to->tokens));
  to->tokens = std::move(before.tokens);
  append(&before.logprobs, std::move(to->logprobs));
  to->logprobs = std::move(before.logprobs);
  to->has_logprobs = to->has_logprobs || before.has_logprobs;
}

}  // namespace

Result<std::shared_ptr<Channel>> Channel::make() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return fail(Code::io, "channel", std::string("no event descriptor: ") + std::strerror(errno));
  return std::shared_ptr<Channel>(new Channel(fd));
}

Channel::~Channel() { ::close(event_fd_); }

void Channel::push(Event event) {
  std::lock_guard lock(mutex_);
  if (is_closed_) return;
  const uint64_t id = event.request;
  auto [at, is_new] = unread_.try_emplace(id);
  if (is_new) {
    at->second = std::move(event);
    order_.push_back(id);
  } else {
    merge(&at->second, std::move(event));
  }
  const uint64_t one = 1;
  // It can only fail where the counter is full, and then the descriptor is readable anyway.
  [[maybe_unused]] const ssize_t written = write(event_fd_, &one, sizeof(one));
  arrived_.notify_one();
}

int32_t Channel::next(int32_t timeout_ms, mortise_event* out) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return is_closed_ || !order_.empty(); };
  if (timeout_ms < 0)
    arrived_.wait(lock, ready);
  else if (!arrived_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready))
    return 0;
  if (is_closed_) return -1;
  auto at = unread_.find(order_.front());
  current_ = std::move(at->second);
  unread_.erase(at);
  order_.pop_front();
  if (order_.empty()) {
    uint64_t count;
    [[maybe_unused]] const ssize_t taken = read(event_fd_, &count, sizeof(count));
  }
  show(out);
  return 1;
}

void Channel::show(mortise_event* out) {
  const Event& e = current_;
  current_logprobs_.clear();
  for (const TokenLogprob& p : e.logprobs)
    current_logprobs_.push_back(
        {p.logprob, static_cast<uint32_t>(p.top_ids.size()), p.top_ids.data(), p.top_logprobs.data()});
  *out = mortise_event{};
  out->size = sizeof(mortise_event);
  out->type = e.type;
  out->request = e.request;
  out->text = str(e.text);
  out->tokens = e.tokens.data();
  out->token_count = e.tokens.size();
  out->logprobs = e.has_logprobs ? current_logprobs_.data() : nullptr;
  out->finish = e.finish;
  out->stop_index = e.stop_index;
  out->prompt_tokens = e.prompt_tokens;
  out->completion_tokens = e.completion_tokens;
  out->cached_tokens = e.cached_tokens;
  out->submitted_ns = e.submitted_ns;
  out->first_token_ns = e.first_token_ns;
  out->finished_ns = e.finished_ns;
  out->error_code = static_cast<int32_t>(e.type == MORTISE_EVENT_ERROR ? e.error.code : Code::ok);
  out->error_where = str(e.error.where);
  out->error_message = str(e.error.message);
  out->error_id = str(e.error_id);
}

void Channel::close() {
  std::lock_guard lock(mutex_);
  is_closed_ = true;
  arrived_.notify_all();
}

}  // namespace mortise
