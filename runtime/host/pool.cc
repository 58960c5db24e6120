// The pool's waiting, claiming and waking.
// Thread rule: see pool.h. Flow: parallel publishes a region, everyone claims tasks, the caller waits for the
// rest.
#include "host/pool.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <cmath>
#include <system_error>

#include "host/cgroup.h"
#include "host/clock.h"
#include "host/threads.h"

namespace mortise {
namespace {

constexpr uint32_t kCallerSleeps = 0x80000000u;
// A worker spins this long for the next region. It covers the engine's serial work between two regions;
// between two requests it is lost once.
constexpr uint64_t kWorkerSpinNs = 50'000;
// The caller spins this long for tasks that others still run: about one task, as tasks are to take at most 50
// us.
constexpr uint64_t kCallerSpinNs = 30'000;
// MXCSR: all exceptions masked, round to nearest, flush to zero, denormals are zero.
constexpr unsigned kFloatMode = 0x1f80u | 0x8000u | 0x0040u;

void futex_wait(std::atomic<uint32_t>* word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>* word, uint32_t count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}
/// Set where a task may be running on this thread: calling parallel there would wait for itself.
thread_local bool is_in_region = false;

static_assert(sizeof(std::atomic<uint32_t>) == 4 && std::atomic<uint32_t>::is_always_lock_free);

/// Pauses until ready() or `limit_ns` have passed; true where ready.
template <class Ready>
bool spin(uint64_t begin_ns, uint64_t limit_ns, Ready ready) {
  if (limit_ns == 0) return ready();
  while (true) {
    for (int i = 0; i < 8; ++i) {
      if (ready()) return true;
      _mm_pause();
    }
    if (now_ns() - begin_ns >= limit_ns) return ready();
  }
}

}  // namespace

uint32_t usable_processors(const std::string& root) {
  double count = 1;
  cpu_set_t* set = CPU_ALLOC(4096);
  const size_t bytes = CPU_ALLOC_SIZE(4096);
  if (set != nullptr && sched_getaffinity(0, bytes, set) == 0) count = CPU_COUNT_S(bytes, set);
  if (set != nullptr) CPU_FREE(set);
  const double quota = read_cgroup_limits(root).cpus;
  if (quota > 0) count = std::min(count, std::ceil(quota));
  return static_cast<uint32_t>(std::clamp<double>(count, 1, kPoolThreadsMax));
}

Result<std::unique_ptr<Pool>> Pool::make(uint32_t threads) {
  if (threads == 0) threads = usable_processors();
  if (threads > kPoolThreadsMax)
    return fail(Code::limit, "engine.threads",
                std::to_string(threads) + " is over the limit of " + std::to_string(kPoolThreadsMax) +
                    "; 0 takes one per core");
  std::unique_ptr<Pool> pool(new Pool());
  try {
    for (uint32_t worker = 1; worker < threads; ++worker)
      pool->threads_.push_back(start_thread("mortise-pool-" + std::to_string(worker),
                                            [raw = pool.get(), worker] { raw->worker_main(worker); }));
  } catch (const std::system_error& error) {
    return fail(Code::no_memory, "engine.threads",
                "the system gives no thread " + std::to_string(pool->workers() + 1) + " of " +
                    std::to_string(threads) + " (" + error.code().message() + "); ask for fewer");
  }
  return pool;
}

Pool::~Pool() {
  stop_.store(true);
  epoch_.fetch_add(1);
  futex_wake(&epoch_, INT_MAX);
  for (std::thread& thread : threads_) thread.join();
}

void Pool::parallel(uint32_t tasks, mortise_task* run, void* arg) noexcept {
  if (tasks == 0) return;
  assert(tasks <= kPoolTasksMax);
  assert(!is_in_region && "a task called parallel");
  const std::lock_guard<std::mutex> turn(callers_);
  is_in_region = true;
  const unsigned callers_mode = _mm_getcsr();
  _mm_setcsr(kFloatMode);
  if (tasks == 1 || threads_.empty()) {
    for (uint32_t task = 0; task < tasks; ++task) run(arg, task, 0);
  } else {
    run_ = run;
    arg_ = arg;
    tasks_ = tasks;
    unfinished_.store(tasks, std::memory_order_relaxed);
    unclaimed_.store(tasks, std::memory_order_release);
    // Sequentially consistent on both sides: either this sees the sleeper, or the sleeper sees the new epoch.
    epoch_.fetch_add(1);
    const uint32_t asleep = sleepers_.load();
    if (asleep != 0) futex_wake(&epoch_, std::min(asleep, tasks - 1));
    work(0);
    wait_for_tasks();
  }
  _mm_setcsr(callers_mode);
  is_in_region = false;
}

void Pool::work(uint32_t worker) noexcept {
  uint32_t done = 0;
  uint32_t left = unclaimed_.load(std::memory_order_acquire);
  while (left != 0) {
    // A success makes this thread part of whatever region is open now, even where `left` was read in an
    // earlier one: the region cannot end before the task does, so its fields stand still.
    if (!unclaimed_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel,
                                          std::memory_order_acquire))
      continue;
    run_(arg_, tasks_ - left, worker);
    ++done;
    left = unclaimed_.load(std::memory_order_acquire);
  }
  if (done == 0) return;
  const uint32_t before = unfinished_.fetch_sub(done, std::memory_order_acq_rel);
  if (before == (done | kCallerSleeps)) futex_wake(&unfinished_, 1);
}

void Pool::wait_for_tasks() noexcept {
  const auto all_done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (all_done() || spin(now_ns(), kCallerSpinNs, all_done)) return;
  uint32_t value = unfinished_.fetch_or(kCallerSleeps, std::memory_order_acq_rel) | kCallerSleeps;
  while (value != kCallerSleeps) {
    futex_wait(&unfinished_, value);
    value = unfinished_.load(std::memory_order_acquire);
  }
}

void Pool::worker_main(uint32_t worker) noexcept {
  _mm_setcsr(kFloatMode);
  is_in_region = true;
  uint32_t seen = 0;
  uint64_t spin_ns = kWorkerSpinNs;
  while (true) {
    seen = wait_for_region(seen, &spin_ns);
    if (stop_.load(std::memory_order_acquire)) return;
    work(worker);
  }
}

uint32_t Pool::wait_for_region(uint32_t seen, uint64_t* spin_ns) noexcept {
  const auto changed = [this, seen] { return epoch_.load(std::memory_order_acquire) != seen; };
  const uint64_t begin_ns = now_ns();
  if (!spin(begin_ns, *spin_ns, changed)) {
    sleepers_.fetch_add(1);
    while (epoch_.load() == seen) futex_wait(&epoch_, seen);
    sleepers_.fetch_sub(1);
  }
  // The last gap foretells the next: where regions come slowly, or others want this processor, spinning only
  // heats.
  *spin_ns = now_ns() - begin_ns < kWorkerSpinNs ? kWorkerSpinNs : *spin_ns / 2;
  return epoch_.load(std::memory_order_acquire);
}

}  // namespace mortise
