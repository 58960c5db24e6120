// Choosing between builds of one kernel source for several instruction sets.
// Thread rule: plain values. Flow: a plugin compiles its kernel file once per Isa (CMake sets the flags of
// that file alone) and picks the table of functions at create(), by what the host says that the processor
// offers.
#pragma once
#include <mortise/cpp/part.h>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  /// base: what every x86-64 has; avx2: -mavx2 -mf16c; avx512: -mavx512f -mf16c.
  enum class Isa { base, avx2, avx512 };

  inline const char* isa_name(Isa isa) {
    return isa == Isa::avx512 ? "avx512f" : isa == Isa::avx2 ? "avx2" : "sse2";
  }

  inline Isa best_isa(const Host& host) {
    if (!host.has_isa("avx2") || !host.has_isa("f16c")) return Isa::base;
    return host.has_isa("avx512f") ? Isa::avx512 : Isa::avx2;
  }

}  // namespace )
}  // namespace mortise
