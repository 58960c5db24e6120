// A progress bar on a terminal.
// Thread rule: update from any thread. Flow: shown while a model loads; erased before the first answer.
#pragma once
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

#include "host/clock.h"
#include "host/log.h"

namespace mortise {

class Progress {
 public:
  /// Work of `total` units called `label`. Draws on `out` only where that is a terminal, and only once the
  /// work has taken a second. `log`'s lines clear the bar first. `now` is replaced in tests.
  Progress(Log& log, std::string label, uint64_t total, std::FILE* out = stderr, uint64_t (*now)() = now_ns);
  /// Erases the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units of the total are finished.
  void update(uint64_t done);

 private:
  void clear();

  Log& log_;
  const std::string label_;
  const uint64_t total_;
  std::FILE* const out_;
  uint64_t (*const now_)();
  const bool terminal_;
  const uint64_t begin_ns_;
  std::mutex mutex_;
  uint64_t drawn_ns_ = 0;
  bool visible_ = false;
};

}  // namespace mortise
