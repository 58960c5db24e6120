// Processor features; see isa.h. Thread rule: one const table, filled on first use. Flow: CPUID and XCR0 ->
// names.
#include "host/isa.h"

#include <cpuid.h>

#include <array>
#include <cstdint>

namespace mortise {
namespace {

enum Register : uint8_t { eax, ebx, ecx, edx };

// XCR0 bits: what the system saves at a context switch (Intel SDM volume 1, 13.3).
constexpr uint64_t kAvxState = 0x6;      // XMM, YMM
constexpr uint64_t kAvx512State = 0xe6;  // and opmask, ZMM0-15 high halves, ZMM16-31

struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  uint64_t state;
};

// CPUID bits (Intel SDM volume 2, CPUID). By hand: clang 14's __builtin_cpu_supports knows only some of the
// names.
constexpr Feature kFeatures[] = {
    {"sse4.2", 1, 0, ecx, 20, 0},
    {"avx", 1, 0, ecx, 28, kAvxState},
    {"avx2", 7, 0, ebx, 5, kAvxState},
    {"fma", 1, 0, ecx, 12, kAvxState},
    {"f16c", 1, 0, ecx, 29, kAvxState},
    {"bmi2", 7, 0, ebx, 8, 0},
    {"avx512f", 7, 0, ebx, 16, kAvx512State},
    {"avx512bw", 7, 0, ebx, 30, kAvx512State},
    {"avx512vl", 7, 0, ebx, 31, kAvx512State},
    {"avx512dq", 7, 0, ebx, 17, kAvx512State},
    {"avx512vnni", 7, 0, ecx, 11, kAvx512State},
    {"avx512bf16", 7, 1, eax, 5, kAvx512State},
    {"avxvnni", 7, 1, eax, 4, kAvxState},
};

bool cpuid_bit(const Feature& feature) {
  std::array<uint32_t, 4> r{};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &r[eax], &r[ebx], &r[ecx], &r[edx])) return false;
  return (r[feature.reg] >> feature.bit & 1) != 0;
}

// XCR0, or 0 where the system does not use XSAVE (OSXSAVE clear: xgetbv would be an illegal instruction).
uint64_t saved_state() {
  std::array<uint32_t, 4> r{};
  if (!__get_cpuid(1, &r[eax], &r[ebx], &r[ecx], &r[edx]) || (r[ecx] >> 27 & 1) == 0) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

std::vector<std::string> detect() {
  const uint64_t saved = saved_state();
  std::vector<std::string> out;
  for (const Feature& feature : kFeatures) {
    if (cpuid_bit(feature) && (saved & feature.state) == feature.state) out.emplace_back(feature.name);
  }
  return out;
}

const std::vector<std::string>& machine() {
  static const std::vector<std::string> features = detect();
  return features;
}

}  // namespace

bool has_isa(std::string_view feature) {
  for (const std::string& name : machine()) {
    if (name == feature) return true;
  }
  return false;
}

std::vector<std::string> isa_features() { return machine(); }

}  // namespace mortise
