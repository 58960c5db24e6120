// Inner loops of planar decoders: codes of few bits out of words, and (code - zero) * scale over a run.
// Thread rule: pure functions over the caller's memory. Flow: included by the file of a format that the build
// compiles with -O3; the compiler makes vectors of the loops. Planes may begin at any byte of a file, so
// every element is loaded by memcpy. Internal linkage.
#pragma once
#include <mortise/cpp/half.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mortise::planar {
namespace {

template <class T>
inline T load(const uint8_t* from, uint64_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

/// A plane of 16- or 32-bit floats.
class Reals {
 public:
  Reals(const uint8_t* data, std::string_view dtype)
      : data_(data),
        kind_(dtype == "f32"   ? Kind::f32
              : dtype == "f16" ? Kind::f16
                               : Kind::bf16) {}
  float operator[](uint64_t i) const {
    if (kind_ == Kind::f32) return load<float>(data_, i);
    const auto bits = load<uint16_t>(data_, i);
    return kind_ == Kind::f16 ? half_to_float(bits) : bf16_to_float(bits);
  }

 private:
  enum class Kind { f32, f16, bf16 };
  const uint8_t* data_;
  Kind kind_;
};

/// Codes of 4 bits, the low one of a byte first, as bytes: 2 * bytes of them.
inline void nibbles(const uint8_t* __restrict from, uint64_t bytes, uint8_t* __restrict codes) {
  for (uint64_t i = 0; i < bytes; ++i) {
    codes[2 * i] = from[i] & 15;
    codes[2 * i + 1] = from[i] >> 4;
  }
}

/// out[i] = (codes[i] - zero) * scale; the difference is exact.
template <class Code>
inline void scale_run(const Code* __restrict codes, uint64_t count, int32_t zero, float scale,
                      float* __restrict out) {
  for (uint64_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(static_cast<int32_t>(codes[i]) - zero) * scale;
}

/// The same where code i has the zero and scale of group index[i]. A group that there is not counts as the
/// last one: the index lies in a file, which may change after it was checked.
template <class Code>
inline void scale_indexed(const Code* __restrict codes, uint64_t count, const uint8_t* index, uint32_t groups,
                          const int32_t* __restrict zeros, const float* __restrict scales,
                          float* __restrict out) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t g = std::min(load<uint32_t>(index, i), groups - 1);
    out[i] = static_cast<float>(static_cast<int32_t>(codes[i]) - zeros[g]) * scales[g];
  }
}

}  // namespace
}  // namespace mortise::planar
