// Score: two chunks that engine and reader swap. Thread rule and flow: see score.h.
#include "engine/score.h"

#include <algorithm>
#include <chrono>

namespace mortise {

Score::Score(uint64_t tokens, uint32_t vocab)
    : tokens_(tokens),
      vocab_(vocab),
      filling_(std::min<uint64_t>(tokens, kRowsMax) * vocab),
      reading_(filling_.size()) {}

bool Score::has_room() const {
  const std::lock_guard lock(mutex_);
  return published_ == 0;
}

void Score::publish(uint32_t count) {
  const std::lock_guard lock(mutex_);
  published_ = count;
  arrived_.notify_one();
}

void Score::fail(Error error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  arrived_.notify_one();
}

Result<Score::Rows> Score::next(int32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return published_ > 0 || error_ || given_ == tokens_; };
  if (timeout_ms < 0)
    arrived_.wait(lock, ready);
  else
    arrived_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready);
  if (published_ == 0) return error_ ? Result<Rows>(pass(*error_)) : Rows();
  filling_.swap(reading_);
  const Rows out{published_, given_, reading_.data()};
  given_ += published_;
  published_ = 0;
  return out;
}

}  // namespace mortise
