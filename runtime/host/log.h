// The log: one line on standard error per event.
// Thread rule: any thread. Flow: the host and, through the host table, every plugin write here; results never
// do.
#pragma once
#include <mortise/host.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

namespace spdlog {
class logger;
}

namespace mortise {

constexpr size_t kLogLineBytesMax = 4096;  // the rest of a longer line is cut

class Log {
 public:
  /// Writes lines of at least `level` (MORTISE_LOG_*) to `out`, which must outlive the log; colours on a
  /// terminal only.
  explicit Log(int32_t level = MORTISE_LOG_WARNING, std::FILE* out = stderr);
  ~Log();

  /// "mortise: warning: SOURCE: LINE"; `source` may be empty. Line breaks and other control characters become
  /// blanks, as a line may carry bytes from a file. A failed write is dropped: a full disk must not stop an
  /// answer.
  void write(int32_t level, std::string_view source, std::string_view line) noexcept;
  void debug(std::string_view line) noexcept { write(MORTISE_LOG_DEBUG, {}, line); }
  void info(std::string_view line) noexcept { write(MORTISE_LOG_INFO, {}, line); }
  void warn(std::string_view line) noexcept { write(MORTISE_LOG_WARNING, {}, line); }
  void error(std::string_view line) noexcept { write(MORTISE_LOG_ERROR, {}, line); }

  /// Called before a line is written, so that whoever draws on the terminal can clear its line first; empty:
  /// nobody.
  void before_line(std::function<void()> clear);

 private:
  std::mutex mutex_;
  std::function<void()> clear_;
  std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace mortise
