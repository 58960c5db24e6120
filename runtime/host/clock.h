// Monotonic time.
// Thread rule: any thread. Flow: the only clock that the host reads for durations.
#pragma once
#include <chrono>
#include <cstdint>

namespace mortise {

/// Nanoseconds of a clock that never goes back; its zero means nothing.
inline uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace mortise
