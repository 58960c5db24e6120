// Drawing and erasing the bar. Thread rule and flow: see progress.h.
#include "client/progress.h"

#include <unistd.h>

#include <algorithm>

namespace mortise::client {
namespace {

constexpr std::chrono::milliseconds kShowAfter{1000};
constexpr std::chrono::milliseconds kRedraw{100};
constexpr size_t kCells = 30;

}  // namespace

Progress::Progress(std::string label, uint64_t total, std::FILE* out)
    : label_(std::move(label)),
      total_(std::max<uint64_t>(total, 1)),
      out_(out),
      is_terminal_(isatty(fileno(out)) == 1) {}

Progress::~Progress() {
  if (drawn_ == Clock::time_point{}) return;
  std::fputs("\r\033[K", out_);  // to the line's begin, and erase to its end
  std::fflush(out_);
}

void Progress::update(uint64_t done) {
  if (!is_terminal_) return;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now - begin_ < kShowAfter || now - drawn_ < kRedraw) return;
  drawn_ = now;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const auto full = static_cast<size_t>(part * kCells);
  const std::string bar = std::string(full, '#') + std::string(kCells - full, '.');
  std::fprintf(out_, "\r%s [%s] %3d%%", label_.c_str(), bar.c_str(), static_cast<int>(part * 100));
  std::fflush(out_);
}

}  // namespace mortise::client
