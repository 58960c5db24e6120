// Tests of the decoders: every code of the small types against a slow computation, the rest against the
// language's own conversions. Thread rule: single-threaded. Flow: tests
// plugins/weights/safetensors/decode.cc.
#include "decode.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace mortise::safetensors;

namespace {

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

/// From an odd address: files have no alignment.
template <class T>
std::vector<float> decoded(Decoder* decode, const std::vector<T>& values, size_t elements) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T) + 1);
  std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(T));
  std::vector<float> out(elements);
  decode(bytes.data() + 1, values.size(), out.data());
  return out;
}

std::vector<uint8_t> all_bytes() {
  std::vector<uint8_t> out(256);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(i);
  return out;
}

/// Sign, exponent and mantissa by the textbook.
double textbook(uint32_t code, int exponent_bits, int mantissa_bits, int bias) {
  const int exponent = (code >> mantissa_bits) % (1 << exponent_bits);
  const double mantissa = (code % (1u << mantissa_bits)) / std::ldexp(1.0, mantissa_bits);
  const double size =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias) : std::ldexp(1 + mantissa, exponent - bias);
  return (code >> (exponent_bits + mantissa_bits)) % 2 == 1 ? -size : size;
}

void check_same(float got, double want, const std::string& what) {
  INFO(what << ": " << got << " for " << want);
  if (std::isnan(want))
    CHECK(std::isnan(got));
  else
    CHECK(bits_of(got) == bits_of(static_cast<float>(want)));
}

}  // namespace

TEST_CASE("every code of the 8-bit floats decodes exactly") {
  const auto e4m3 = decoded(decode_f8_e4m3, all_bytes(), 256),
             e5m2 = decoded(decode_f8_e5m2, all_bytes(), 256);
  const auto e8m0 = decoded(decode_f8_e8m0, all_bytes(), 256);
  const auto e4m3fnuz = decoded(decode_f8_e4m3fnuz, all_bytes(), 256);
  const auto e5m2fnuz = decoded(decode_f8_e5m2fnuz, all_bytes(), 256);
  for (uint32_t c = 0; c < 256; ++c) {
    const std::string what = "code " + std::to_string(c);
    check_same(e4m3[c], c % 128 == 127 ? NAN : textbook(c, 4, 3, 7), "e4m3 " + what);
    const double infinity = c < 128 ? INFINITY : -INFINITY;
    const bool special = c % 128 >= 0x7c;
    check_same(e5m2[c], special ? (c % 4 == 0 ? infinity : NAN) : textbook(c, 5, 2, 15), "e5m2 " + what);
    check_same(e8m0[c], c == 255 ? NAN : std::ldexp(1.0, static_cast<int>(c) - 127), "e8m0 " + what);
    check_same(e4m3fnuz[c], c == 128 ? NAN : textbook(c, 4, 3, 8), "e4m3fnuz " + what);
    check_same(e5m2fnuz[c], c == 128 ? NAN : textbook(c, 5, 2, 16), "e5m2fnuz " + what);
  }
  CHECK(e4m3[0x7e] == 448.0f);
  CHECK(e4m3[0x01] == 0x1p-9f);
  CHECK(e5m2[0x7b] == 57344.0f);
  CHECK(e8m0[0] == 0x1p-127f);
}

TEST_CASE("four-bit floats lie low half first") {
  const auto out =
      decoded(decode_f4, std::vector<uint8_t>{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}, 16);
  const float want[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
  for (size_t i = 0; i < 16; ++i) CHECK(bits_of(out[i]) == bits_of(want[i]));
}

TEST_CASE("halves, brain floats and floats keep their bits, NaN, infinities and subnormals among them") {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  const auto half = decoded(decode_f16, all, all.size()), brain = decoded(decode_bf16, all, all.size());
  size_t wrong = 0;
  for (uint32_t c = 0; c < 65536; ++c) {
    wrong += bits_of(brain[c]) != c << 16;
    const uint32_t exponent = c >> 10 & 31, mantissa = c & 1023;
    if (exponent == 31) {
      wrong += mantissa == 0 ? half[c] != (c < 32768 ? INFINITY : -INFINITY) : !std::isnan(half[c]);
    } else {
      wrong += bits_of(half[c]) != bits_of(static_cast<float>(textbook(c, 5, 10, 15)));
    }
  }
  CHECK(wrong == 0);
  const std::vector<uint32_t> bits = {0, 1, 0x80000000, 0x7f800001, 0x7f800000, 0xffc12345, 0x3f800000};
  const auto same = decoded(decode_f32, bits, bits.size());
  for (size_t i = 0; i < bits.size(); ++i) CHECK(bits_of(same[i]) == bits[i]);
}

TEST_CASE("wide numbers are rounded to the nearest float") {
  const auto doubles = decoded(decode_f64, std::vector<double>{0.1, 1e300, -1e-320, 16777217.0}, 4);
  CHECK(doubles == std::vector<float>{0.1f, INFINITY, -0.0f, 16777216.0f});
  CHECK(decoded(decode_i64, std::vector<int64_t>{INT64_MIN, -1, 16777217}, 3) ==
        std::vector<float>{-0x1p63f, -1, 16777216.0f});
  CHECK(decoded(decode_u64, std::vector<uint64_t>{UINT64_MAX, 3}, 2) == std::vector<float>{0x1p64f, 3});
  CHECK(decoded(decode_i32, std::vector<int32_t>{INT32_MIN, 7}, 2) == std::vector<float>{-0x1p31f, 7});
  CHECK(decoded(decode_u32, std::vector<uint32_t>{UINT32_MAX}, 1) == std::vector<float>{0x1p32f});
  CHECK(decoded(decode_i16, std::vector<int16_t>{-32768, 5}, 2) == std::vector<float>{-32768, 5});
  CHECK(decoded(decode_u16, std::vector<uint16_t>{65535}, 1) == std::vector<float>{65535});
  CHECK(decoded(decode_i8, std::vector<int8_t>{-128, 1}, 2) == std::vector<float>{-128, 1});
  CHECK(decoded(decode_u8, std::vector<uint8_t>{255}, 1) == std::vector<float>{255});
  CHECK(decoded(decode_bool, std::vector<uint8_t>{0, 1, 2}, 3) == std::vector<float>{0, 1, 1});
}

TEST_CASE("mxfp4 multiplies each group of 32 by its power of two") {
  std::vector<uint8_t> codes(32, 0x21), scales = {128, 255};
  std::vector<float> out(64);
  decode_mxfp4(codes.data(), scales.data(), 2, out.data());
  CHECK(out[0] == 1.0f);  // 0.5 * 2
  CHECK(out[1] == 2.0f);
  CHECK(std::isnan(out[32]));
}
