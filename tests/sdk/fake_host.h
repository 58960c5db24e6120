// A host table for tests of single plugins: memory, log, clock and pool without a pipeline.
// Thread rule: as host.h says; parallel runs its tasks on the calling thread, last task first, so that a task
// that relies on an earlier one fails. Flow: given to create() or to an instance class of a plugin under
// test.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/host.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace mortise_test {

class FakeHost {
 public:
  /// `denied`: processor features that has_isa says are absent.
  explicit FakeHost(uint32_t workers = 2, std::set<std::string> denied = {}) : denied_(std::move(denied)) {
    table_.size = sizeof(table_);
    table_.abi = MORTISE_ABI;
    table_.ctx = this;
    table_.workers = workers;
    table_.log = &log;
    table_.alloc = &alloc;
    table_.free_ = &free_memory;
    table_.now_ns = &now_ns;
    table_.parallel = &parallel;
    table_.spawn = &spawn;
    table_.join = [](void*, void*) {};
    table_.map_file = &map_file;
    table_.open_library = &open_library;
    table_.service = [](void*, mortise_str) -> const void* { return nullptr; };
    table_.has_isa = &has_isa;
  }
  FakeHost(const FakeHost&) = delete;

  const mortise_host* c() const { return &table_; }
  mortise::Host host() const { return mortise::Host(&table_); }
  std::vector<std::string> lines() const {
    std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  static FakeHost& self(void* ctx) { return *static_cast<FakeHost*>(ctx); }
  static void log(void* ctx, int32_t, mortise_str line) {
    std::lock_guard lock(self(ctx).mutex_);
    self(ctx).lines_.emplace_back(line.data, line.size);
  }
  static void* alloc(void*, const mortise_place*, size_t bytes, size_t align) {
    return std::aligned_alloc(align, (bytes + align - 1) / align * align);
  }
  static void free_memory(void*, const mortise_place*, void* memory) { std::free(memory); }
  static uint64_t now_ns(void*) {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                 std::chrono::nanoseconds(1));
  }
  static void parallel(void* ctx, uint32_t tasks, mortise_task* run, void* arg) {
    for (uint32_t i = tasks; i-- > 0;) run(arg, i, i % self(ctx).table_.workers);
  }
  static mortise_status absent(mortise_error* error) {
    return mortise::to_c({mortise::Code::unsupported, "", "the fake host has no such thing"}, error);
  }
  static mortise_status spawn(void*, mortise_str, void (*)(void*), void*, void**, mortise_error* error) {
    return absent(error);
  }
  static mortise_status map_file(void*, mortise_str, uint32_t*, mortise_bytes*, mortise_error* error) {
    return absent(error);
  }
  static mortise_status open_library(void*, mortise_str, void**, mortise_error* error) {
    return absent(error);
  }
  static int32_t has_isa(void* ctx, mortise_str feature) {
    const std::string name(feature.data, feature.size);
    if (self(ctx).denied_.count(name) != 0) return 0;
    __builtin_cpu_init();
    if (name == "avx2") return __builtin_cpu_supports("avx2") != 0;
    if (name == "fma") return __builtin_cpu_supports("fma") != 0;
    if (name == "avx512f") return __builtin_cpu_supports("avx512f") != 0;
    if (name == "avx512bw") return __builtin_cpu_supports("avx512bw") != 0;
    // The compiler has no query for f16c here; every processor with avx2 has it.
    if (name == "f16c") return __builtin_cpu_supports("avx2") != 0;
    return 0;
  }

  mortise_host table_{};
  std::set<std::string> denied_;
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace mortise_test
