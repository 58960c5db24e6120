// What tests of kernel plugins share: seeded random numbers, the instruction sets of this machine, comparing
// bits. Thread rule: test threads only. Flow: included by the tests of linear, ops and attention plugins.
#pragma once
#include <xmmintrin.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sdk/fake_host.h"

namespace mortise_test {

/// The seed of this run: MORTISE_SEED replays one.
inline uint64_t seed() {
  static const uint64_t value = [] {
    const char* given = std::getenv("MORTISE_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  }();
  return value;
}

class Random {
 public:
  explicit Random(uint64_t salt) : engine_(seed() * 1000003 + salt) {}
  float normal() { return std::normal_distribution<float>()(engine_); }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_() % n); }
  std::vector<float> normals(size_t count, float scale = 1.0f) {
    std::vector<float> out(count);
    for (float& x : out) x = scale * normal();
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

/// What has_isa must deny to reach each build of the kernels; builds that this machine lacks are left out.
inline std::vector<std::set<std::string>> isa_builds() {
  __builtin_cpu_init();
  std::vector<std::set<std::string>> out = {{"avx512f", "avx2"}};
  if (__builtin_cpu_supports("avx2")) out.push_back({"avx512f"});
  if (__builtin_cpu_supports("avx512f")) out.push_back({});
  return out;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Flush-to-zero and denormals-are-zero, as the host sets in every worker.
class FlushToZero {
 public:
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(before_); }

 private:
  unsigned before_;
};

/// 64-byte aligned memory with a guard behind it that must stay as it was.
class Scratch {
 public:
  explicit Scratch(size_t bytes) : bytes_(bytes), memory_((bytes + 191) / 64 * 64) {
    data_ = static_cast<uint8_t*>(std::aligned_alloc(64, memory_));
    std::memset(data_, 0xff, memory_);  // NaN: a kernel may not rely on what it holds
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() { std::free(data_); }
  void* data() { return data_; }
  bool intact() const {
    for (size_t i = bytes_; i < memory_; ++i)
      if (data_[i] != 0xff) return false;
    return true;
  }

 private:
  size_t bytes_, memory_;
  uint8_t* data_;
};

}  // namespace mortise_test
