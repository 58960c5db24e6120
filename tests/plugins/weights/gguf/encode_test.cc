// Tests of the quantisers: bits and errors against the fixtures, what importance is for, and odd input.
// Thread rule: single-threaded. Flow: tests plugins/weights/gguf/encode*.cc.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "writer.h"

using gguf_test::read_bytes;

namespace {

constexpr const char* kWritten[] = {"F32",  "F16",  "BF16", "Q4_0", "Q4_1", "Q5_0",
                                    "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"};

const gguf::Type& type_of(const char* name) { return *gguf::find_type(std::string_view(name)); }

std::string fixture(const std::string& name) {
  return read_bytes(MORTISE_TEST_DATA "/fixtures/blocks/" + name);
}

std::vector<float> floats(const std::string& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::string encode(const gguf::Type& type, const std::vector<float>& x, const float* importance = nullptr) {
  const uint64_t blocks = x.size() / type.block_weights;
  std::string out(blocks * type.block_bytes, '\0');
  type.encode(x.data(), importance, blocks, reinterpret_cast<uint8_t*>(out.data()));
  return out;
}

std::vector<float> there_and_back(const gguf::Type& type, const std::vector<float>& x,
                                  const float* importance = nullptr) {
  const std::string raw = encode(type, x, importance);
  std::vector<float> out(x.size());
  type.decode_base(reinterpret_cast<const uint8_t*>(raw.data()), raw.size() / type.block_bytes, out.data());
  return out;
}

double rms(const std::vector<float>& a, const std::vector<float>& b, const float* weights = nullptr) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (weights == nullptr ? 1.0 : static_cast<double>(weights[i])) *
           std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

/// quant.rms_error_to_src of a type in the fixtures' index.
double reference_error(const std::string& name) {
  const std::string index = fixture("index.json"), key = "\"rms_error_to_src\": ";
  const size_t row = index.find("\"" + name + "\": {");
  return std::stod(index.substr(index.find(key, row) + key.size(), 30));
}

/// Steps between neighbouring values of a type, as a part of the largest magnitude in a block: the bound of
/// an error, with room for the half that holds the scale.
double step_of(const std::string& name) {
  if (name == "F32") return 0;
  if (name == "F16") return 0x1p-10;
  if (name == "BF16") return 0x1p-7;
  if (name == "Q8_0") return 1.1 / 127;
  if (name == "Q6_K") return 1.2 / 31;
  return name[1] == '4' ? 2.4 / 15 : 2.4 / 31;
}

}  // namespace

TEST_CASE("the simple types are encoded to the bits of the fixtures") {
  const std::vector<float> source = floats(fixture("src.f32"));
  for (const char* name : {"F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"}) {
    INFO(name);
    CHECK((encode(type_of(name), source) == fixture(std::string(name) + ".quant.raw")));
  }
}

TEST_CASE("no type has a larger error on the fixtures than the reference's") {
  const std::vector<float> source = floats(fixture("src.f32"));
  for (const char* name : kWritten) {
    const double error = rms(there_and_back(type_of(name), source), source),
                 reference = reference_error(name);
    INFO(name << ": " << error << ", reference " << reference);
    CHECK(error <= 1.01 * reference);
  }
}

TEST_CASE("importance lowers the weighted error, and equal importance changes nothing where none is given") {
  const std::vector<float> source = floats(fixture("src.f32"));
  std::mt19937 random(7);
  std::vector<float> importance(source.size());
  for (float& v : importance) v = std::exp(static_cast<float>(random() % 1000) / 150.0f);
  const std::vector<float> equal(source.size(), 3.5f), none(source.size(), 0.0f);
  for (const char* name : {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"}) {
    const gguf::Type& type = type_of(name);
    const double plain = rms(there_and_back(type, source), source, importance.data());
    const double weighted = rms(there_and_back(type, source, importance.data()), source, importance.data());
    INFO(name << ": " << plain << " without, " << weighted << " with");
    CHECK(weighted < 0.97 * plain);
    CHECK((encode(type, source, none.data()) == encode(type, source, equal.data())));
    if (name[3] == 'K') CHECK((encode(type, source, equal.data()) == encode(type, source)));
  }
}

TEST_CASE("odd input: the error stays within the steps of the type") {
  const uint32_t seed = std::random_device{}();
  std::mt19937 random(seed);
  const auto uniform = [&] { return static_cast<float>(random()) / 4294967296.0f * 2 - 1; };
  std::vector<std::vector<float>> inputs;
  for (float value : {0.0f, -0.0f, 1.0f, -1.0f, 65504.0f, -65504.0f, 1e-3f}) inputs.emplace_back(512, value);
  for (float size : {65000.0f, 1.0f, 1e-4f, 2e-7f, 1e-30f, 1e-44f}) {
    auto& x = inputs.emplace_back(512);
    for (float& v : x) v = size * uniform();
    auto& spikes = inputs.emplace_back(512, 0.0f);
    for (int i = 0; i < 512; i += 37) spikes[static_cast<size_t>(i)] = size * uniform();
    auto& shifted = inputs.emplace_back(512);
    for (float& v : shifted) v = size * (0.9f + 0.1f * uniform());
    auto& outlier = inputs.emplace_back(512);
    for (float& v : outlier) v = size * 1e-3f * uniform();
    outlier[100] = -size;
  }
  for (const char* name : kWritten) {
    const gguf::Type& type = type_of(name);
    for (size_t n = 0; n < inputs.size(); ++n) {
      const std::vector<float>& x = inputs[n];
      std::vector<float> importance(x.size());
      for (float& v : importance) v = random() % 3 == 0 ? 0.0f : std::fabs(uniform()) * 1e30f;
      for (float value : there_and_back(type, x, importance.data())) REQUIRE(std::isfinite(value));
      const std::vector<float> back = there_and_back(type, x);
      double largest = 0, error = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        REQUIRE(std::isfinite(back[i]));
        largest = std::max(largest, std::fabs(static_cast<double>(x[i])));
        error = std::max(error, std::fabs(static_cast<double>(back[i]) - static_cast<double>(x[i])));
      }
      INFO(name << ", input " << n << ", MORTISE_SEED=" << seed << ": " << error << " of " << largest);
      // A scale is a half: below its smallest step everything becomes 0.
      CHECK(error <= step_of(name) * largest + 0x1p-24 * 64);
    }
  }
}

TEST_CASE("F16 and BF16 keep what is no number, and infinity") {
  const float inf = std::numeric_limits<float>::infinity();
  for (const char* name : {"F32", "F16", "BF16"}) {
    const std::vector<float> back = there_and_back(type_of(name), {inf, -inf, std::nanf(""), 0.5f});
    CHECK(back[0] == inf);
    CHECK(back[1] == -inf);
    CHECK(std::isnan(back[2]));
    CHECK(back[3] == 0.5f);
  }
}
