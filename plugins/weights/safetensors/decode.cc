// The decoders. Thread rule and flow: see decode.h. Values of the small floats are those of the OCP 8-bit and
// microscaling specifications; tables are made at compile time, so no processor mode touches subnormals.
#include "decode.h"

#include <mortise/cpp/half.h>

#include <array>
#include <cstring>
#include <limits>

namespace mortise::safetensors {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr double power_of_two(int exponent) {
  double out = 1;
  for (; exponent > 0; --exponent) out *= 2;
  for (; exponent < 0; ++exponent) out /= 2;
  return out;
}

/// The value of sign, exponent and mantissa bits without any special code.
constexpr float small_float(uint32_t code, int exponent_bits, int mantissa_bits, int bias) {
  const auto mantissa = static_cast<double>(code & ((1u << mantissa_bits) - 1));
  const int exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
  const double step = power_of_two(-mantissa_bits);
  const double size = exponent == 0 ? mantissa * step * power_of_two(1 - bias)
                                    : (1 + mantissa * step) * power_of_two(exponent - bias);
  const bool negative = (code >> (exponent_bits + mantissa_bits) & 1) != 0;
  return static_cast<float>(negative ? -size : size);
}

using Table = std::array<float, 256>;

template <class ValueOf>
constexpr Table make_table(ValueOf value_of) {
  Table out{};
  for (uint32_t code = 0; code < out.size(); ++code) out[code] = value_of(code);
  return out;
}

constexpr Table kE4m3 =
    make_table([](uint32_t c) { return (c & 0x7f) == 0x7f ? kNan : small_float(c, 4, 3, 7); });
constexpr Table kE5m2 = make_table([](uint32_t c) {
  if ((c & 0x7c) == 0x7c) return (c & 3) != 0 ? kNan : (c & 0x80) != 0 ? -kInfinity : kInfinity;
  return small_float(c, 5, 2, 15);
});
constexpr Table kE8m0 = make_table([](uint32_t c) {
  return c == 0xff ? kNan : static_cast<float>(power_of_two(static_cast<int>(c) - 127));
});
constexpr Table kE4m3fnuz = make_table([](uint32_t c) { return c == 0x80 ? kNan : small_float(c, 4, 3, 8); });
constexpr Table kE5m2fnuz =
    make_table([](uint32_t c) { return c == 0x80 ? kNan : small_float(c, 5, 2, 16); });
constexpr std::array<float, 16> kE2m1 = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                         -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

template <class T>
T load(const uint8_t* from) {
  T out;
  std::memcpy(&out, from, sizeof(T));
  return out;
}

template <class T>
void convert(const uint8_t* src, uint64_t count, float* out) {
  for (uint64_t i = 0; i < count; ++i) out[i] = static_cast<float>(load<T>(src + i * sizeof(T)));
}

void look_up(const Table& table, const uint8_t* src, uint64_t count, float* out) {
  for (uint64_t i = 0; i < count; ++i) out[i] = table[src[i]];
}

}  // namespace

void decode_f64(const uint8_t* src, uint64_t blocks, float* out) { convert<double>(src, blocks, out); }
void decode_f32(const uint8_t* src, uint64_t blocks, float* out) { std::memcpy(out, src, blocks * 4); }
void decode_f16(const uint8_t* src, uint64_t blocks, float* out) {
  for (uint64_t i = 0; i < blocks; ++i) out[i] = half_to_float(load<uint16_t>(src + 2 * i));
}
void decode_bf16(const uint8_t* src, uint64_t blocks, float* out) {
  for (uint64_t i = 0; i < blocks; ++i) out[i] = bf16_to_float(load<uint16_t>(src + 2 * i));
}
void decode_f8_e4m3(const uint8_t* src, uint64_t blocks, float* out) { look_up(kE4m3, src, blocks, out); }
void decode_f8_e5m2(const uint8_t* src, uint64_t blocks, float* out) { look_up(kE5m2, src, blocks, out); }
void decode_f8_e8m0(const uint8_t* src, uint64_t blocks, float* out) { look_up(kE8m0, src, blocks, out); }
void decode_f8_e4m3fnuz(const uint8_t* src, uint64_t blocks, float* out) {
  look_up(kE4m3fnuz, src, blocks, out);
}
void decode_f8_e5m2fnuz(const uint8_t* src, uint64_t blocks, float* out) {
  look_up(kE5m2fnuz, src, blocks, out);
}
void decode_f4(const uint8_t* src, uint64_t blocks, float* out) {
  for (uint64_t i = 0; i < blocks; ++i) {
    out[2 * i] = kE2m1[src[i] & 15];
    out[2 * i + 1] = kE2m1[src[i] >> 4];
  }
}
void decode_i64(const uint8_t* src, uint64_t blocks, float* out) { convert<int64_t>(src, blocks, out); }
void decode_i32(const uint8_t* src, uint64_t blocks, float* out) { convert<int32_t>(src, blocks, out); }
void decode_i16(const uint8_t* src, uint64_t blocks, float* out) { convert<int16_t>(src, blocks, out); }
void decode_i8(const uint8_t* src, uint64_t blocks, float* out) { convert<int8_t>(src, blocks, out); }
void decode_u64(const uint8_t* src, uint64_t blocks, float* out) { convert<uint64_t>(src, blocks, out); }
void decode_u32(const uint8_t* src, uint64_t blocks, float* out) { convert<uint32_t>(src, blocks, out); }
void decode_u16(const uint8_t* src, uint64_t blocks, float* out) { convert<uint16_t>(src, blocks, out); }
void decode_u8(const uint8_t* src, uint64_t blocks, float* out) { convert<uint8_t>(src, blocks, out); }
void decode_bool(const uint8_t* src, uint64_t blocks, float* out) {
  for (uint64_t i = 0; i < blocks; ++i) out[i] = src[i] != 0 ? 1.0f : 0.0f;
}

void decode_mxfp4(const uint8_t* codes, const uint8_t* scales, uint64_t groups, float* out) {
  for (uint64_t g = 0; g < groups; ++g, codes += 16, out += 32) {
    decode_f4(codes, 16, out);
    const float scale = kE8m0[scales[g]];
    for (int i = 0; i < 32; ++i) out[i] *= scale;
  }
}

}  // namespace mortise::safetensors
