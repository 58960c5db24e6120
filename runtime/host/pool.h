// The pool: a pipeline's worker threads, which share the machine with other programs.
// Thread rule: parallel from any thread, which is worker 0 while it runs; callers take turns. Mostly that is
// the loading thread and then the engine's. Flow: every step of the model runs as a few hundred parallel
// regions.
//
// A region ends when its tasks are done, not when its workers have arrived: who comes late finds no task and
// nobody waits for it. So a worker that the system does not run costs its own work and no one else's. Waiting
// is a short spin, then sleep in the kernel; an idle pool uses no time at all.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/host.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mortise {

constexpr uint32_t kPoolThreadsMax = 256;
constexpr uint32_t kPoolTasksMax = 0x7fffffff;  // of one region

/// Threads that make sense here: the processors that the affinity mask allows, or fewer where a control
/// group's quota (rounded up) says so; between 1 and kPoolThreadsMax. `root` is "" but in tests.
uint32_t usable_processors(const std::string& root = "");

class Pool {
 public:
  /// `threads` with the caller's own among them; 0: usable_processors().
  static Result<std::unique_ptr<Pool>> make(uint32_t threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  uint32_t workers() const { return static_cast<uint32_t>(threads_.size()) + 1; }

  /// Runs run(arg, task, worker) for every task below `tasks` and returns when all are done; what they wrote
  /// is then visible to the caller. Each task runs once, begun in ascending order, on any worker. Rounding is
  /// to nearest and denormals are zero inside tasks; the caller's own float mode comes back. Tasks may
  /// neither throw nor call this.
  void parallel(uint32_t tasks, mortise_task* run, void* arg) noexcept;

 private:
  Pool() = default;
  void worker_main(uint32_t worker) noexcept;
  uint32_t wait_for_region(uint32_t seen, uint64_t* spin_ns) noexcept;
  void work(uint32_t worker) noexcept;
  void wait_for_tasks() noexcept;

  // The region at hand. Plain fields: written while no task exists, read only by who has claimed one.
  mortise_task* run_ = nullptr;
  void* arg_ = nullptr;
  uint32_t tasks_ = 0;
  std::mutex callers_;

  alignas(64) std::atomic<uint32_t> unclaimed_{0};   // tasks that nobody has begun
  alignas(64) std::atomic<uint32_t> unfinished_{0};  // tasks not done, and kCallerSleeps
  alignas(64) std::atomic<uint32_t> epoch_{0};       // counts regions; idle workers wait on it
  std::atomic<uint32_t> sleepers_{0};                // workers in the kernel, or about to be
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace mortise
