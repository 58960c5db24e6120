// Writing AWQ: rows in any order and from several threads give the words of the layout, which read the same
// again; what cannot be written is refused and leaves nothing. Thread rule: the test's thread and its own.
// Flow: tests plugins/weights/awq/{write,encode}.cc.
#include <mortise/cpp/half.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>

#include "awq/scheme.h"
#include "awq/write.h"
#include "sdk/fake_host.h"

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kOut = 136, kIn = 96;  // two whole pieces of 64 rows and a rest

struct Plan {
  std::vector<mortise_tensor> tensors;
  std::vector<const mortise_tensor*> pointers;
  mortise_attr params[2] = {mortise::hf::int_param("bits", 4), mortise::hf::int_param("group_size", 32)};
  const mortise_attr* param_list[2] = {&params[0], &params[1]};
  std::string config =
      R"({"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"}})";
  mortise_write_blob blob{};
  const mortise_write_blob* blobs[1] = {&blob};
  mortise_write_plan plan{};

  void add(const char* name, const char* format, uint64_t out, uint64_t in) {
    mortise_tensor tensor{};
    tensor.size = sizeof(tensor);
    tensor.rank = 2;
    tensor.name = mortise::str(name);
    tensor.format = format;
    tensor.shape[0] = out;
    tensor.shape[1] = in;
    if (std::string_view(format) == "awq.gemm/1") {
      tensor.params = param_list;
      tensor.param_count = 2;
    }
    tensors.push_back(tensor);
  }
  const mortise_write_plan& get() {
    pointers.clear();
    for (const auto& tensor : tensors) pointers.push_back(&tensor);
    blob = {sizeof(blob),
            0,
            mortise::str("config.json"),
            {reinterpret_cast<const uint8_t*>(config.data()), config.size()}};
    plan = {sizeof(plan), 0, 0, 1, pointers.size(), nullptr, blobs, pointers.data()};
    return plan;
  }
};

struct Folder {
  fs::path path = fs::temp_directory_path() / ("mortise-awq-write-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string out() const { return (path / "out").string(); }
};

std::vector<float> random_weights(uint64_t count) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0f, 0.05f);
  std::vector<float> out(count);
  for (float& w : out) w = normal(random);
  return out;
}

/// What the written folder decodes to, and whether its other tensor is stored as it was.
std::vector<float> read_back(const std::string& path) {
  const mortise_test::FakeHost host;
  auto model = mortise::hf::open_model(host.host(), path, 0, &awq::Scheme::compose);
  INFO((model ? "" : model.error().text()));
  REQUIRE(model);
  for (uint64_t i = 0; i < (*model)->tensors.size(); ++i) {
    const mortise_tensor& tensor = *(*model)->tensors.at(i);
    if (mortise::view(tensor.name) != "a.q_proj.weight") continue;
    std::vector<const void*> planes;
    for (uint32_t p = 0; p < tensor.plane_count; ++p)
      planes.push_back(host.file(tensor.planes[p]->file) + tensor.planes[p]->offset);
    std::vector<float> out(kOut * kIn);
    awq::decode_rows(tensor, planes.data(), 0, kOut, out.data());
    return out;
  }
  return {};
}

/// What AutoAWQ's rounding makes of the weights.
std::vector<float> rounded(const std::vector<float>& weights) {
  std::vector<float> out(weights.size());
  for (size_t at = 0; at < weights.size(); at += 32) {
    const auto [low, high] = std::minmax_element(&weights[at], &weights[at] + 32);
    const float scale = mortise::half_to_float(mortise::float_to_half((*high - *low) / 15));
    const float zero = std::clamp(std::nearbyint(-*low / scale), 0.0f, 15.0f);
    for (size_t i = at; i < at + 32; ++i)
      out[i] = (std::clamp(std::nearbyint(weights[i] / scale) + zero, 0.0f, 15.0f) - zero) * scale;
  }
  return out;
}

}  // namespace

TEST_CASE("AWQ written by several threads reads as rounding to nearest gives it") {
  const Folder folder;
  Plan plan;
  plan.add("a.q_proj.weight", "awq.gemm/1", kOut, kIn);
  plan.add("a.norm.weight", "safetensors.f16/1", 1, 3);
  auto writer = awq::Writer::begin(folder.out(), plan.get());
  REQUIRE(writer);
  const std::vector<float> weights = random_weights(kOut * kIn);
  const float norm[] = {1, 2, 3};
  REQUIRE((*writer)->rows(1, 0, 1, norm, nullptr));
  std::vector<std::thread> threads;
  for (const uint64_t row0 : {uint64_t{128}, uint64_t{0}, uint64_t{64}})
    threads.emplace_back([&, row0] {
      if (!(*writer)->rows(0, row0, std::min<uint64_t>(64, kOut - row0), &weights[row0 * kIn], nullptr))
        std::abort();
    });
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(fs::exists(folder.out()));
  REQUIRE((*writer)->end());
  const std::vector<float> read = read_back(folder.out()), wanted = rounded(weights);
  CHECK(read == wanted);
}

TEST_CASE("importance lowers the error where it counts") {
  const awq::Shape shape{8, 64, 32};
  std::vector<float> weights = random_weights(8 * 64), importance(64, 1e-6f);
  for (int row = 0; row < 8; ++row) weights[row * 64 + 5] = 1;  // an outlier that nothing hangs on
  for (int k = 0; k < 64; ++k) importance[k] = k == 5 ? 1e-6f : 1;
  double errors[2];
  for (const bool with : {false, true}) {
    awq::Planes planes(shape);
    REQUIRE(awq::encode_rows(shape, 0, 8, weights.data(), with ? importance.data() : nullptr, &planes));
    double sum = 0;
    for (uint64_t row = 0; row < 8; ++row)
      for (uint64_t k = 0; k < 64; ++k) {
        const uint32_t shift = 4 * awq::kNibble[row];
        const int code = planes.codes[k] >> shift & 15, zero = planes.zeros[k / 32] >> shift & 15;
        const float value =
            static_cast<float>(code - zero) * mortise::half_to_float(planes.scales[k / 32 * 8 + row]);
        sum += importance[k] * std::pow(value - weights[row * 64 + k], 2.0);
      }
    errors[with] = sum;
  }
  CHECK(errors[1] < 0.9 * errors[0]);
}

TEST_CASE("groups that lie on one side of zero, of zeros and of one value are written") {
  const awq::Shape shape{8, 32, 32};
  for (const float value : {0.0f, 0.3f, -0.3f}) {
    const std::vector<float> weights(8 * 32, value);
    awq::Planes planes(shape);
    REQUIRE(awq::encode_rows(shape, 0, 8, weights.data(), nullptr, &planes));
    const int code = planes.codes[0] & 15, zero = planes.zeros[0] & 15;
    CHECK(static_cast<float>(code - zero) * mortise::half_to_float(planes.scales[0]) ==
          Approx(value).epsilon(1e-3));
  }
}

TEST_CASE("what AWQ cannot hold is refused and leaves nothing") {
  const Folder folder;
  Plan plan;
  SECTION("values") {
    plan.add("a.q_proj.weight", "awq.gemm/1", 8, 32);
    auto writer = awq::Writer::begin(folder.out(), plan.get());
    REQUIRE(writer);
    std::vector<float> weights(8 * 32, 0.1f);
    weights[40] =
        GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e30f);
    CHECK_FALSE((*writer)->rows(0, 0, 8, weights.data(), nullptr));
  }
  SECTION("rows") { plan.add("a.q_proj.weight", "awq.gemm/1", 12, 32); }
  SECTION("columns") { plan.add("a.q_proj.weight", "awq.gemm/1", 8, 40); }
  SECTION("name") { plan.add("a.q_proj.bias", "awq.gemm/1", 8, 32); }
  SECTION("format") { plan.add("a.q_proj.weight", "gguf.q4_0/1", 8, 32); }
  if (plan.tensors[0].shape[0] != 8 || plan.tensors[0].shape[1] != 32 ||
      mortise::view(plan.tensors[0].name) != "a.q_proj.weight" ||
      std::string_view(plan.tensors[0].format) != "awq.gemm/1")
    CHECK_FALSE(awq::Writer::begin(folder.out(), plan.get()));
  CHECK(fs::is_empty(folder.path));
}
