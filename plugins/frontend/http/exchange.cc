// Handing over.
// Thread rule: see exchange.h. Flow: see exchange.h.
#include "exchange.h"

#include <utility>

#include "http_limits.h"

namespace mortise::http {

void Exchange::wake() {
  if (!std::exchange(is_woken_, true)) wake_();
}

void Exchange::send(Response response) {
  const std::lock_guard lock(mutex_);
  part_.head = std::move(response);
  part_.is_over = true;
  wake();
}

void Exchange::begin() {
  const std::lock_guard lock(mutex_);
  part_.head = Response{200, {{"cache-control", "no-cache"}}, "", "text/event-stream"};
  part_.is_stream = true;
  wake();
}

void Exchange::write(std::string_view text) {
  std::unique_lock lock(mutex_);
  if (is_gone_) return;
  part_.text += text;
  if (part_.text.size() > kUnsentBytesMax) part_.is_over = part_.is_broken = true;
  wake();
  if (part_.is_broken) leave(std::move(lock));
}

void Exchange::end(bool broken) {
  const std::lock_guard lock(mutex_);
  part_.is_over = true;
  part_.is_broken = part_.is_broken || broken;
  wake();
}

bool Exchange::is_gone() const {
  const std::lock_guard lock(mutex_);
  return is_gone_;
}

void Exchange::on_gone(std::function<void()> hook) {
  std::unique_lock lock(mutex_);
  hook_ = std::move(hook);
  if (is_gone_) leave(std::move(lock));
}

Exchange::Part Exchange::take() {
  const std::lock_guard lock(mutex_);
  is_woken_ = false;
  Part out = std::exchange(part_, Part{});
  part_.is_stream = out.is_stream;
  part_.is_broken = out.is_broken;
  return out;
}

void Exchange::leave() { leave(std::unique_lock(mutex_)); }

void Exchange::leave(std::unique_lock<std::mutex> lock) {
  is_gone_ = true;
  const std::function<void()> hook = std::exchange(hook_, nullptr);
  lock.unlock();
  if (hook) hook();
}

}  // namespace mortise::http
