// The pool: every task once, any thread count, sleeping workers, float mode, refusals.
// Thread rule: makes pools of its own. Flow: tests of runtime/host/pool; also run under TSan.
#include "host/pool.h"

#include <immintrin.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <random>

using namespace mortise;

namespace {

struct Job {
  std::vector<uint32_t> runs;
  std::vector<uint64_t> values;
  uint64_t factor = 0;
  uint32_t workers = 0;
  std::atomic<uint32_t> bad_workers{0};
};

void count_task(void* arg, uint32_t task, uint32_t worker) {
  auto* job = static_cast<Job*>(arg);
  ++job->runs[task];  // plain memory: TSan and the final check see a task that runs twice
  job->values[task] = job->factor * task;
  if (worker >= job->workers) ++job->bad_workers;
}

void check_region(Pool& pool, uint32_t tasks, uint64_t factor) {
  Job job;
  job.runs.assign(tasks, 0);
  job.values.assign(tasks, 0);
  job.factor = factor;
  job.workers = pool.workers();
  pool.parallel(tasks, count_task, &job);
  uint32_t wrong = 0;
  for (uint32_t task = 0; task < tasks; ++task)
    wrong += job.runs[task] != 1 || job.values[task] != factor * task;
  REQUIRE(wrong == 0);
  REQUIRE(job.bad_workers == 0);
}

std::unique_ptr<Pool> make_pool(uint32_t threads) {
  auto pool = Pool::make(threads);
  REQUIRE(pool);
  return std::move(*pool);
}

/// The signal that ends a child which runs `body`, 0 where it returns.
template <class Body>
int signal_of(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);  // the test program's own handler would report it
    close(STDERR_FILENO);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("pool: every task runs once, for random counts of tasks and threads") {
  const char* given = std::getenv("MORTISE_SEED");
  const uint64_t seed = given != nullptr ? std::stoull(given) : std::random_device{}();
  INFO("MORTISE_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const uint32_t threads : {1u, 2u, 3u, 7u}) {
    auto pool = make_pool(threads);
    CHECK(pool->workers() == threads);
    for (int round = 0; round < 1500; ++round) {
      const uint32_t tasks = random() % 4 == 0 ? random() % 500 : random() % 6;
      check_region(*pool, tasks, random());
      if (random() % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
  }
}

TEST_CASE("pool: pools side by side do not disturb each other") {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&wrong] {
      auto pool = Pool::make(3);
      if (!pool) ++wrong;
      for (int round = 0; pool && round < 500; ++round) {
        std::vector<uint32_t> runs(17, 0);
        (*pool)->parallel(
            17, [](void* arg, uint32_t task, uint32_t) { ++static_cast<uint32_t*>(arg)[task]; }, runs.data());
        for (const uint32_t run : runs) wrong += run != 1;
      }
    });
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("pool: sleeping workers wake up") {
  auto pool = make_pool(2);
  std::atomic<int> met{0};
  const auto meet = [](void* arg, uint32_t, uint32_t) {  // ends only when two workers are in it at once
    auto& here = *static_cast<std::atomic<int>*>(arg);
    ++here;
    while (here.load() < 2) sched_yield();
  };
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    met = 0;
    pool->parallel(2, meet, &met);
    CHECK(met == 2);
  }
}

TEST_CASE("pool: an idle pool sleeps") {
  auto pool = make_pool(2);
  check_region(*pool, 10, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto used_ns = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
  };
  const auto before = used_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(used_ns() - before < 5'000'000);  // generous: 0.1% of a core would be 0.5 ms
}

TEST_CASE("pool: tasks round to nearest and flush denormals, the caller's mode comes back") {
  const unsigned before = _mm_getcsr();
  const unsigned odd = (before & ~0x8040u) | 0x2000u;  // denormals on, round down
  for (const uint32_t threads : {1u, 4u}) {
    auto pool = make_pool(threads);
    for (const uint32_t tasks : {1u, 64u}) {
      std::vector<unsigned> modes(tasks, 0);
      _mm_setcsr(odd);
      pool->parallel(
          tasks, [](void* arg, uint32_t task, uint32_t) { static_cast<unsigned*>(arg)[task] = _mm_getcsr(); },
          modes.data());
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      CHECK(after == odd);
      for (const unsigned mode : modes) CHECK((mode & ~0x3fu) == 0x9fc0u);
    }
  }
}

TEST_CASE("pool: a task that calls parallel is an assertion") {
  const auto nested = [](uint32_t tasks) {
    return [tasks] {
      auto pool = Pool::make(2);
      (*pool)->parallel(
          tasks,
          [](void* arg, uint32_t, uint32_t) {
            static_cast<Pool*>(arg)->parallel(
                2, [](void*, uint32_t, uint32_t) {}, nullptr);
          },
          pool->get());
    };
  };
  CHECK(signal_of(nested(1)) == SIGABRT);
  CHECK(signal_of(nested(8)) == SIGABRT);
}

TEST_CASE("pool: an exception ends the process instead of unwinding through the pool") {
  CHECK(signal_of([] {
          auto pool = Pool::make(2);
          try {
            (*pool)->parallel(
                8, [](void*, uint32_t, uint32_t) { throw 1; }, nullptr);
          } catch (...) {
            _exit(3);
          }
        }) == SIGABRT);
}

TEST_CASE("pool: threads as asked, or one per processor that may be used") {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
  CHECK(usable_processors() >= 1);
  CHECK(usable_processors() <= static_cast<uint32_t>(CPU_COUNT(&set)));
  CHECK(make_pool(0)->workers() == usable_processors());
  const auto refused = Pool::make(kPoolThreadsMax + 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() == "engine.threads: 257 is over the limit of 256; 0 takes one per core");

  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &set)) CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof(one), &one);
  const uint32_t narrowed = usable_processors();
  sched_setaffinity(0, sizeof(set), &set);
  CHECK(narrowed == 1);
}
