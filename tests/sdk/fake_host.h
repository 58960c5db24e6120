// A host table for tests of single plugins: memory, log, clock and pool without a pipeline.
// Thread rule: as host.h says; parallel runs its tasks on the calling thread, last task first, so that a task
// that relies on an earlier one fails. Flow: given to create() or to an instance class of a plugin under
// test.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/host.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
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
  /// The bytes of a mapped file.
  const uint8_t* file(uint32_t handle) const { return files_[handle].second.get(); }
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
  /// The file's bytes in a buffer of exactly its size, so that a sanitizer sees a read behind its end.
  static mortise_status map_file(void* ctx, mortise_str path, uint32_t* file, mortise_bytes* view,
                                 mortise_error* error) {
    const std::string name(path.data, path.size);
    auto& files = self(ctx).files_;
    for (size_t i = 0; i < files.size(); ++i)
      if (files[i].first == name) {
        *file = static_cast<uint32_t>(i);
        *view = {files[i].second.get(), self(ctx).sizes_[i]};
        return MORTISE_OK;
      }
    std::ifstream in(name, std::ios::binary);
    if (!in) return mortise::to_c({mortise::Code::not_found, name, "no such file"}, error);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (bytes.empty()) return mortise::to_c({mortise::Code::bad_data, name, "is empty"}, error);
    files.emplace_back(name, std::make_unique<uint8_t[]>(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), files.back().second.get());
    self(ctx).sizes_.push_back(bytes.size());
    *file = static_cast<uint32_t>(files.size() - 1);
    *view = {files.back().second.get(), bytes.size()};
    return MORTISE_OK;
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
  std::vector<std::pair<std::string, std::unique_ptr<uint8_t[]>>> files_;  // by handle
  std::vector<size_t> sizes_;
};

}  // namespace mortise_test
