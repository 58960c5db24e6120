// The log over spdlog, without spdlog's registry.
// Thread rule: any thread. Flow: see log.h.
#include "host/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>

#include <algorithm>
#include <string>

namespace mortise {
namespace {

spdlog::level::level_enum spdlog_level(int32_t level) {
  switch (level) {
    case MORTISE_LOG_DEBUG:
      return spdlog::level::debug;
    case MORTISE_LOG_INFO:
      return spdlog::level::info;
    case MORTISE_LOG_WARNING:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

std::string one_line(std::string_view source, std::string_view line) {
  std::string out(source);
  if (!out.empty()) out += ": ";
  out += line.substr(0, kLogLineBytesMax);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

}  // namespace

Log::Log(int32_t level, std::FILE* out) {
  auto sink = std::make_shared<spdlog::sinks::ansicolor_sink<spdlog::details::console_mutex>>(
      out, spdlog::color_mode::automatic);
  logger_ = std::make_unique<spdlog::logger>("mortise", std::move(sink));
  logger_->set_level(spdlog_level(level));
  logger_->set_pattern("mortise: %^%l%$: %v");
  logger_->flush_on(spdlog::level::trace);
  logger_->set_error_handler([](const std::string&) {});
}

Log::~Log() = default;

void Log::write(int32_t level, std::string_view source, std::string_view line) noexcept {
  try {
    const auto at = spdlog_level(level);
    if (!logger_->should_log(at)) return;
    const std::string text = one_line(source, line);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (clear_) clear_();
    logger_->log(at, spdlog::string_view_t(text.data(), text.size()));
  } catch (...) {
    // Out of memory for a log line: the line is lost, the work goes on.
  }
}

void Log::before_line(std::function<void()> clear) {
  const std::lock_guard<std::mutex> lock(mutex_);
  clear_ = std::move(clear);
}

}  // namespace mortise
