// attention/naive through the suite of all attention plugins. Thread rule: one thread. Flow: as the host
// calls it.
#include "naive.h"
#include "plugins/attention/attention_suite.h"

using namespace mortise_test;

namespace {
const Subject kNaive = {attention_naive::kTable,
                        [](const std::set<std::string>& denied) -> std::shared_ptr<void> {
                          FakeHost host(2, denied);
                          return std::make_shared<attention_naive::Naive>(host.host(), mortise::NoParams());
                        }};
}

TEST_CASE("attention naive agrees with float64 and does not depend on the batch", "[attention]") {
  check_shapes(kNaive);
}
TEST_CASE("attention naive has window, soft cap and sinks", "[attention]") { check_features(kNaive); }
TEST_CASE("attention naive stores what it should", "[attention]") { check_layouts(kNaive); }
TEST_CASE("attention naive refuses impossible layers", "[attention]") { check_refusals(kNaive); }
TEST_CASE("attention naive checks catch planted faults", "[attention]") { check_planted_faults(kNaive); }

TEST_CASE("float16 and bfloat16 conversions are exact", "[attention]") {
  FlushToZero flush;
  using namespace mortise;
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const auto half = static_cast<uint16_t>(h);
    const float x = half_to_float(half);
    const int exponent = static_cast<int>(h >> 10 & 31), mantissa = static_cast<int>(h & 1023);
    const double size =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    if (exponent != 31) {
      REQUIRE(x == static_cast<float>((h & 0x8000) != 0 ? -size : size));
      REQUIRE(float_to_half(x) == half);
      // Halfway to the next one: to even; just off it: to the nearer one.
      if (exponent != 30 || mantissa != 1023) {
        const float next = half_to_float(static_cast<uint16_t>(half + 1)), middle = (x + next) / 2;
        REQUIRE(float_to_half(middle) == (h % 2 == 0 ? half : half + 1));
        REQUIRE(float_to_half(std::nextafter(middle, x)) == half);
        REQUIRE(float_to_half(std::nextafter(middle, next)) == half + 1);
      }
    } else {
      REQUIRE(std::isnan(x) == (mantissa != 0));
      REQUIRE(float_to_half(x) == (mantissa == 0 ? h : h | 0x0200));
    }
    const float b = bf16_to_float(half);
    if (!std::isnan(b)) {
      REQUIRE(float_to_bf16(b) == half);
      if (std::isinf(b)) continue;
      const float middle = bits_float(h << 16 | 0x8000);
      REQUIRE(float_to_bf16(middle) == (h % 2 == 0 ? half : half + 1));
      REQUIRE(float_to_bf16(bits_float(h << 16 | 0x7fff)) == half);
    } else {
      REQUIRE(float_to_bf16(b) == (half | 0x0040));
    }
  }
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(65519.996f) == 0x7bff);
  CHECK(float_to_half(1e-40f) == 0);
}
