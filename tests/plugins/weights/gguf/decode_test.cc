// Tests of the block decoders: bits against the fixtures, both variants against each other, halves against a
// slow independent conversion. Thread rule: single-threaded. Flow: tests plugins/weights/gguf/decode_impl.h.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "writer.h"

using gguf_test::read_bytes;

namespace {

/// Every type that has a decoder, in the table's order.
std::vector<const gguf::Type*> read_types() {
  std::vector<const gguf::Type*> out;
  for (uint32_t number = 0; const gguf::Type* type = gguf::find_type(number); ++number)
    if (type->readable()) out.push_back(type);
  return out;
}

bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");  // F16C came before AVX2
#else
  return true;
#endif
}

std::vector<gguf::Decoder> variants(const gguf::Type& type) {
  if (has_avx2()) return {type.decode_base, type.decode_avx2};
  WARN("this processor has no AVX2: only the portable decoders are tested");
  return {type.decode_base};
}

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

std::string random_bytes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::string out(count, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

std::vector<float> decode(gguf::Decoder decoder, const gguf::Type& type, std::string_view raw) {
  const uint64_t blocks = raw.size() / type.block_bytes;
  std::vector<float> out(blocks * type.block_weights);
  decoder(reinterpret_cast<const uint8_t*>(raw.data()), blocks, out.data());
  return out;
}

}  // namespace

TEST_CASE("decoders give the bits of the block fixtures") {
  for (const gguf::Type* row : read_types()) {
    const gguf::Type& type = *row;
    const std::string name(type.name);
    for (const char* set : {"random", "quant"}) {
      const std::string stem = std::string(MORTISE_TEST_DATA "/fixtures/blocks/") + name + "." + set;
      const std::string raw = read_bytes(stem + ".raw"), expected = read_bytes(stem + ".f32");
      REQUIRE(expected.size() == 8 * 512 * 4);
      for (gguf::Decoder decoder : variants(type)) {
        const std::vector<float> out = decode(decoder, type, raw);
        REQUIRE(out.size() == 8 * 512);
        size_t wrong = 0;
        for (size_t i = 0; i < out.size(); ++i) {
          uint32_t want;
          std::memcpy(&want, expected.data() + 4 * i, sizeof(want));
          const uint32_t got = bits_of(out[i]);
          wrong += got != want && ((got | want) & 0x7fffffff) != 0;  // +0 and -0 are equal
        }
        INFO(name << " " << set);
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("both decoder variants give the same bits on any bytes, at any address and length") {
  const uint32_t seed = std::random_device{}();
  INFO("seed " << seed);
  for (const gguf::Type* row : read_types()) {
    const gguf::Type& type = *row;
    if (!has_avx2()) continue;
    for (size_t blocks : {0, 1, 2, 3, 7, 8, 9, 16, 17, 61}) {
      // From an odd address, and to the last byte of the allocation.
      const std::string raw =
          random_bytes(blocks * type.block_bytes + 1, seed + static_cast<uint32_t>(blocks));
      const std::string_view view = std::string_view(raw).substr(1);
      const std::vector<float> base = decode(type.decode_base, type, view);
      const std::vector<float> fast = decode(type.decode_avx2, type, view);
      INFO(type.name << " " << blocks);
      size_t wrong = 0;
      for (size_t i = 0; i < base.size(); ++i)  // which NaN is left to the compiler
        wrong += bits_of(base[i]) != bits_of(fast[i]) && !(std::isnan(base[i]) && std::isnan(fast[i]));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("every half converts exactly") {
  const gguf::Type& f16 = *gguf::find_type(std::string_view("F16"));
  std::string raw;
  for (uint32_t h = 0; h < 65536; ++h) raw.append({static_cast<char>(h & 255), static_cast<char>(h >> 8)});
  for (gguf::Decoder decoder : variants(f16)) {
    const std::vector<float> out = decode(decoder, f16, raw);
    size_t wrong = 0;
    for (uint32_t h = 0; h < 65536; ++h) {
      const int exponent = static_cast<int>(h >> 10 & 31), fraction = static_cast<int>(h & 1023);
      double want = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      if (exponent == 31) want = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
      if ((h >> 15) != 0) want = -want;
      const bool same = std::isnan(want)
                            ? std::isnan(out[h])
                            : static_cast<double>(out[h]) == want && std::signbit(out[h]) == (h >> 15 != 0);
      wrong += !same;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a half as block scale converts exactly in both variants") {
  const gguf::Type& type = *gguf::find_type(std::string_view("Q8_0"));
  std::string raw;
  for (uint32_t h = 0; h < 65536; ++h) {
    raw.append({static_cast<char>(h & 255), static_cast<char>(h >> 8)});
    raw.append(32, '\1');
  }
  std::string halves;
  for (uint32_t h = 0; h < 65536; ++h) halves.append({static_cast<char>(h & 255), static_cast<char>(h >> 8)});
  const gguf::Type& f16 = *gguf::find_type(std::string_view("F16"));
  const std::vector<float> want = decode(f16.decode_base, f16, halves);
  for (gguf::Decoder decoder : variants(type)) {
    const std::vector<float> out = decode(decoder, type, raw);
    size_t wrong = 0;
    for (size_t h = 0; h < 65536; ++h)
      wrong +=
          std::isnan(want[h]) ? !std::isnan(out[32 * h + 7]) : bits_of(out[32 * h + 7]) != bits_of(want[h]);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the type table agrees with the block fixtures' index") {
  const std::string index = read_bytes(MORTISE_TEST_DATA "/fixtures/blocks/index.json");
  size_t known = 0;
  for (uint32_t number = 0; number < 43; ++number) {
    const gguf::Type* type = gguf::find_type(number);
    REQUIRE(type != nullptr);
    CHECK(gguf::find_type(type->name) == type);
    const size_t at = index.find("\"" + std::string(type->name) + "\": {");
    if (at == std::string::npos) continue;
    ++known;
    const std::string row = index.substr(at, 200);
    CHECK(row.find("\"ggml_type\": " + std::to_string(number) + ",") != std::string::npos);
    CHECK(row.find("\"block\": " + std::to_string(type->block_weights) + ",") != std::string::npos);
    CHECK(row.find("\"block_bytes\": " + std::to_string(type->block_bytes) + ",") != std::string::npos);
  }
  CHECK(known == 28);
  CHECK(gguf::find_type(43) == nullptr);
  CHECK(read_types().size() == 28);  // all of them
}
