// A progress bar of a tool, on a terminal only.
// Thread rule: any thread. Flow: drawn while a tool works, erased before its result.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace mortise::client {

class Progress {
 public:
  /// Work of `total` units called `label`. Drawn on `out`, only where that is a terminal and once the work
  /// has taken a second.
  Progress(std::string label, uint64_t total, std::FILE* out);
  /// Erases the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units of the total are finished.
  void update(uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string label_;
  const uint64_t total_;
  std::FILE* const out_;
  const bool is_terminal_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  Clock::time_point drawn_{};
};

}  // namespace mortise::client
