// float16 and bfloat16 to float32 and back, in integer arithmetic: exact, and the same under flush-to-zero.
// Thread rule: pure functions. Flow: KV caches and formats that hold 16-bit floats.
//
// Rounding is to nearest, ties to even; what is too large becomes infinity; NaN stays NaN with its sign and
// the top of its payload, made quiet. These are the bits that the F16C instructions give. Internal linkage,
// since kernel files include it (see lanes.h).
#pragma once
#include <stdint.h>

namespace mortise {
namespace {

inline __attribute__((always_inline)) uint32_t float_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  return bits;
}
inline __attribute__((always_inline)) float bits_float(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof(x));
  return x;
}

inline __attribute__((always_inline)) float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = h & 0x7c00u, mantissa = h & 0x03ffu;
  // Subnormal: mantissa * 2^-24, which is a normal float32.
  const uint32_t small = float_bits(static_cast<float>(static_cast<int32_t>(mantissa)) * 0x1p-24f);
  const uint32_t normal = (static_cast<uint32_t>(h & 0x7fffu) << 13) + (112u << 23);
  const uint32_t special = 0x7f800000u | (mantissa << 13) | (mantissa != 0 ? 0x00400000u : 0u);
  return bits_float(sign | (exponent == 0 ? small : exponent == 0x7c00u ? special : normal));
}

inline __attribute__((always_inline)) uint16_t float_to_half(float x) {
  const uint32_t bits = float_bits(x), size = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  // Adding 0.5, whose unit in the last place is 2^-24, rounds to a multiple of the smallest half.
  const uint32_t small = float_bits(bits_float(size) + 0.5f) - float_bits(0.5f);
  const uint32_t normal = ((size + 0x0fffu + ((size >> 13) & 1u)) >> 13) - (112u << 10);
  const uint32_t nan = 0x7e00u | ((size >> 13) & 0x03ffu);
  const uint32_t value = size > 0x7f800000u    ? nan
                         : size >= 0x477ff000u ? 0x7c00u  // 65520, halfway between the largest half and 2^16
                         : size < 0x38800000u  ? small    // 2^-14
                                               : normal;
  return static_cast<uint16_t>(sign | value);
}

inline __attribute__((always_inline)) float bf16_to_float(uint16_t b) {
  return bits_float(static_cast<uint32_t>(b) << 16);
}

inline __attribute__((always_inline)) uint16_t float_to_bf16(float x) {
  const uint32_t bits = float_bits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace
}  // namespace mortise
