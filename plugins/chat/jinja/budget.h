// What one render may spend: operations, wall time, memory. Exceeding any of them ends the render with one
// line.
// Thread rule: one render, one thread. Flow: the evaluator spends operations, the heap spends bytes.
#pragma once
#include <chrono>
#include <string>

#include "engine_limits.h"
#include "template_error.h"

namespace mortise::jinja {

class Budget {
 public:
  Budget() : deadline_(Clock::now() + std::chrono::milliseconds(kMaxRenderMs)) {}

  /// Counts `n` operations; looks at the clock every few thousand.
  void spend(uint64_t n = 1) {
    operations_ += n;
    if (operations_ >= next_look_) look();
  }
  void allocate(size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMaxHeapBytes) {
      raise("the template needs more than " + std::to_string(kMaxHeapBytes >> 20) +
                " MiB of values; simplify it",
            Code::limit);
    }
    spend(1 + bytes / 64);
  }
  /// Refuses a result of `count` items of `size` bytes before anything is made.
  void expect(uint64_t count, uint64_t size) {
    if (count > kMaxHeapBytes || (size > 0 && count > kMaxHeapBytes / size)) allocate(kMaxHeapBytes + 1);
  }
  /// One level deeper; a guard object below.
  void enter() {
    if (++depth_ > kMaxEvalDepth) {
      --depth_;
      raise("the template nests deeper than " + std::to_string(kMaxEvalDepth) + " levels; simplify it",
            Code::limit);
    }
  }
  void leave() { --depth_; }

 private:
  using Clock = std::chrono::steady_clock;
  void look() {
    next_look_ = operations_ + 4096;
    if (operations_ > kMaxOperations) {
      raise("the template takes more than " + std::to_string(kMaxOperations) + " operations; simplify it",
            Code::limit);
    }
    if (Clock::now() > deadline_) {
      raise("the template takes longer than " + std::to_string(kMaxRenderMs) + " ms; simplify it",
            Code::limit);
    }
  }

  Clock::time_point deadline_;
  uint64_t operations_ = 0;
  uint64_t next_look_ = 4096;
  size_t bytes_ = 0;
  int depth_ = 0;
};

/// A level of nesting, left again when the scope ends.
class Level {
 public:
  explicit Level(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~Level() { budget_.leave(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Budget& budget_;
};

}  // namespace mortise::jinja
