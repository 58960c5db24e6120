// Drawing and erasing the bar.
// Thread rule: see progress.h. Flow: update redraws at most ten times a second.
#include "host/progress.h"

#include <unistd.h>

#include <algorithm>

namespace mortise {
namespace {

constexpr uint64_t kShowAfterNs = 1'000'000'000;
constexpr uint64_t kRedrawNs = 100'000'000;
constexpr uint64_t kCells = 30;

}  // namespace

Progress::Progress(Log& log, std::string label, uint64_t total, std::FILE* out, uint64_t (*now)())
    : log_(log),
      label_(std::move(label)),
      total_(std::max<uint64_t>(total, 1)),
      out_(out),
      now_(now),
      terminal_(isatty(fileno(out)) == 1),
      begin_ns_(now()) {
  if (terminal_) log_.before_line([this] { clear(); });
}

Progress::~Progress() {
  if (!terminal_) return;
  log_.before_line({});
  clear();
}

void Progress::update(uint64_t done) {
  if (!terminal_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t now = now_();
  if (now - begin_ns_ < kShowAfterNs || now - drawn_ns_ < kRedrawNs) return;
  drawn_ns_ = now;
  visible_ = true;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const auto full = static_cast<size_t>(part * kCells);
  const std::string bar = std::string(full, '#') + std::string(kCells - full, '.');
  std::fprintf(out_, "\r%s [%s] %3d%%", label_.c_str(), bar.c_str(), static_cast<int>(part * 100));
  std::fflush(out_);
}

void Progress::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!visible_) return;
  visible_ = false;
  std::fputs("\r\033[K", out_);  // to the line's begin, and erase to its end
  std::fflush(out_);
}

}  // namespace mortise
