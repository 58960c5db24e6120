// Standard input and output of a front end, and how it is told to end while it waits for them.
// Thread rule: one thread, but Control, which any thread may use. Flow: lines in, whole lines out.
#pragma once
#include <mortise/cpp/result.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::client {

/// What the main thread wants of a front end that runs on its own; wakes it out of poll.
class Control {
 public:
  Control();
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void drain(uint32_t deadline_ms) { raise(Wish::drain, deadline_ms); }
  void stop() { raise(Wish::stop, 0); }
  /// SIGINT, for a front end that has something to interrupt.
  void interrupt();

  bool draining() const { return wish_.load() >= Wish::drain; }
  bool stopping() const { return wish_.load() == Wish::stop; }
  /// Milliseconds until a drain must be over; -1 where none was asked for.
  int drain_left_ms() const;
  /// True once for every interrupt since the last call, many counting as one. Only this clears wake_fd.
  bool take_interrupt();
  /// Readable once something was asked for; poll it beside what is waited for.
  int wake_fd() const { return wake_fd_; }

 private:
  enum class Wish { none, drain, stop };
  void raise(Wish wish, uint32_t deadline_ms);
  void wake();

  int wake_fd_;
  std::atomic<Wish> wish_{Wish::none};
  std::atomic<int64_t> deadline_ns_{0};
  std::atomic<bool> interrupted_{false};
};

constexpr size_t kLineBytesMax = 16 * 1024 * 1024;

/// Cuts what a descriptor gives into lines that end at \n only.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  enum class Got { line, too_long, nothing, end };
  /// A line without its \n. too_long: a line over kLineBytesMax was passed over. nothing: no whole line is
  /// here yet and reading on may block; end: the input is over, and its last line, ended or not, was given.
  Got next(std::string* line);
  /// Reads once, which may block; next then says what came.
  Result<void> fill();
  int fd() const { return fd_; }

 private:
  const int fd_;
  std::string buffer_;
  size_t begin_ = 0;
  size_t searched_ = 0;  // no \n before it
  bool end_ = false;
  bool skipping_ = false;  // within a line that is too long
};

/// Writes all of it. An error names standard output: closed by its reader, or its disk full.
Result<void> write_all(int fd, std::string_view text);

}  // namespace mortise::client
