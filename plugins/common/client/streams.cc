// Reading lines, writing answers, waking up.
// Thread rule: see streams.h. Flow: see streams.h.
#include "client/streams.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace mortise::client {
namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Control::Control() : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Control::~Control() { close(wake_fd_); }

void Control::raise(Wish wish, uint32_t deadline_ms) {
  if (wish == Wish::drain) deadline_ns_ = now_ns() + int64_t{deadline_ms} * 1'000'000;
  Wish before = wish_.load();
  while (before < wish && !wish_.compare_exchange_weak(before, wish)) {
  }
  wake();
}

void Control::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written =
      write(wake_fd_, &one, sizeof(one));  // a full counter wakes as well
}

void Control::interrupt() {
  interrupted_ = true;
  wake();
}

bool Control::take_interrupt() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(wake_fd_, &count, sizeof(count));
  return interrupted_.exchange(false);
}

int Control::drain_left_ms() const {
  if (!draining()) return -1;
  return static_cast<int>(std::clamp<int64_t>((deadline_ns_.load() - now_ns()) / 1'000'000, 0, INT32_MAX));
}

LineReader::Got LineReader::next(std::string* line) {
  while (true) {
    const size_t newline = buffer_.find('\n', searched_);
    if (newline == std::string::npos) break;
    const bool whole = !skipping_ && newline - begin_ <= kLineBytesMax;
    skipping_ = false;
    line->assign(buffer_, begin_, whole ? newline - begin_ : 0);
    begin_ = searched_ = newline + 1;
    return whole ? Got::line : Got::too_long;
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (buffer_.size() > kLineBytesMax || skipping_) {
    buffer_.clear();
    skipping_ = true;
  }
  searched_ = buffer_.size();
  if (!end_) return Got::nothing;
  if (skipping_) {
    skipping_ = false;
    return Got::too_long;
  }
  if (buffer_.empty()) return Got::end;
  line->swap(buffer_);
  buffer_.clear();
  searched_ = 0;
  return Got::line;
}

Result<void> LineReader::fill() {
  constexpr size_t kChunkBytes = 64 * 1024;
  const size_t before = buffer_.size();
  buffer_.resize(before + kChunkBytes);
  ssize_t got = 0;
  do {
    got = read(fd_, buffer_.data() + before, kChunkBytes);
  } while (got < 0 && errno == EINTR);
  const int number = errno;
  buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && number != EAGAIN)
    return fail(Code::io, "standard input", "cannot be read: " + std::generic_category().message(number));
  if (got == 0) end_ = true;
  return {};
}

Result<void> write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return fail(
          Code::io, "standard output",
          "cannot be written: " + std::generic_category().message(errno) + "; check its reader or disk");
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace mortise::client
