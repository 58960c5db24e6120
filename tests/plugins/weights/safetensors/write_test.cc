// Tests of writing hub folders: what is written reads the same again, shards, and nothing under the final
// name before the end. Thread rule: single-threaded. Flow: tests plugins/weights/safetensors/write.cc,
// hf/writer.cc.
#include "write.h"

#include <mortise/cpp/half.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <random>

#include "decode.h"
#include "hf/folder.h"
#include "hf/writer.h"
#include "plugins/common/hf/file_maker.h"
#include "sdk/fake_host.h"

namespace fs = std::filesystem;

namespace {

const mortise_weights kCalls = [] {
  mortise_weights table{};
  mortise::hf::add_write_calls<mortise::safetensors::Writer>(&table);
  return table;
}();

/// A plan of tensors [rows][k] and one blob.
struct Plan {
  void add(const char* name, const char* format, uint64_t rows, uint64_t k) {
    mortise_tensor tensor{};
    tensor.size = sizeof(tensor);
    tensor.rank = 2;
    tensor.name = mortise::str(name);
    tensor.format = format;
    tensor.shape[0] = rows;
    tensor.shape[1] = k;
    tensors.push_back(tensor);
  }
  const mortise_write_plan* c() {
    pointers.clear();
    for (const auto& tensor : tensors) pointers.push_back(&tensor);
    blob = {sizeof(blob), 0, mortise::str(blob_name), {reinterpret_cast<const uint8_t*>("{\"a\":1}"), 7}};
    plan = {sizeof(plan), 0, 0, 1, pointers.size(), nullptr, &blob_pointer, pointers.data()};
    return &plan;
  }

  std::string blob_name = "config.json";
  std::vector<mortise_tensor> tensors;
  std::vector<const mortise_tensor*> pointers;
  mortise_write_blob blob{};
  const mortise_write_blob* blob_pointer = &blob;
  mortise_write_plan plan{};
};

std::string begin_error(Plan& plan, const std::string& path) {
  void* writer = nullptr;
  mortise_error error = mortise::c_error();
  const mortise_status status = kCalls.write_begin(nullptr, mortise::str(path), plan.c(), &writer, &error);
  REQUIRE(status != MORTISE_OK);
  return mortise::from_c(status, error).text();
}

size_t entries(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("what is written reads the same again") {
  hf_test::Folder parent;
  const std::string path = parent.path("out");
  Plan plan;
  plan.add("a", "safetensors.f32/1", 70, 33);
  plan.add("b", "safetensors.f16/1", 1, 5);
  plan.add("c", "safetensors.bf16/1", 130, 1000);
  void* writer = nullptr;
  REQUIRE(kCalls.write_begin(nullptr, mortise::str(path), plan.c(), &writer, nullptr) == MORTISE_OK);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> x;
  for (uint64_t i = 0; i < 3; ++i) {
    const auto& tensor = plan.tensors[i];
    auto& values = x.emplace_back(tensor.shape[0] * tensor.shape[1]);
    for (float& value : values) value = normal(random);
    // The last rows first.
    for (uint64_t row0 = (tensor.shape[0] - 1) / 64 * 64;; row0 -= 64) {
      const uint64_t rows = std::min<uint64_t>(64, tensor.shape[0] - row0);
      REQUIRE(kCalls.write_rows(nullptr, writer, i, row0, rows, values.data() + row0 * tensor.shape[1],
                                nullptr, nullptr) == MORTISE_OK);
      if (row0 == 0) break;
    }
  }
  CHECK_FALSE(fs::exists(path));
  REQUIRE(kCalls.write_end(nullptr, writer, nullptr) == MORTISE_OK);
  CHECK(entries(parent.path()) == 1);

  mortise_test::FakeHost host;
  const auto folder = mortise::hf::Folder::open(host.host(), path, false);
  REQUIRE(folder);
  CHECK(folder->metadata().find("a")->ints == std::vector<int64_t>{1});
  for (uint64_t i = 0; i < 3; ++i) {
    const auto* tensor = folder->find(mortise::view(plan.tensors[i].name));
    REQUIRE(tensor != nullptr);
    REQUIRE(tensor->has_shape({plan.tensors[i].shape[0], plan.tensors[i].shape[1]}));
    std::vector<float> read(x[i].size()), want = x[i];
    const uint8_t* data = host.file(tensor->file) + tensor->offset;
    if (i == 0) mortise::safetensors::decode_f32(data, read.size(), read.data());
    if (i == 1) mortise::safetensors::decode_f16(data, read.size(), read.data());
    if (i == 2) mortise::safetensors::decode_bf16(data, read.size(), read.data());
    for (float& value : want) {
      if (i == 1) value = mortise::half_to_float(mortise::float_to_half(value));
      if (i == 2) value = mortise::bf16_to_float(mortise::float_to_bf16(value));
    }
    CHECK(read == want);
  }
}

TEST_CASE("a writer that is given up leaves nothing behind") {
  hf_test::Folder parent;
  Plan plan;
  plan.add("a", "safetensors.f32/1", 64, 4);
  void* writer = nullptr;
  REQUIRE(kCalls.write_begin(nullptr, mortise::str(parent.path("out")), plan.c(), &writer, nullptr) ==
          MORTISE_OK);
  CHECK(entries(parent.path()) == 1);
  CHECK_FALSE(fs::exists(parent.path("out")));
  kCalls.write_abort(nullptr, writer);
  CHECK(entries(parent.path()) == 0);
}

TEST_CASE("what cannot be written is refused before anything is") {
  hf_test::Folder parent;
  const std::string path = parent.path("out");
  Plan good;
  good.add("a", "safetensors.f32/1", 2, 2);
  Plan format = good;
  format.add("b", "gguf.q4_0/1", 2, 32);
  CHECK(begin_error(format, path).find("gguf.q4_0/1 is not written") != std::string::npos);
  Plan twice = good;
  twice.add("a", "safetensors.f16/1", 2, 2);
  CHECK(begin_error(twice, path).find("two entries") != std::string::npos);
  for (const char* name : {"../x", "", ".x", "a/b"}) {
    Plan blob = good;
    blob.blob_name = name;
    CHECK(begin_error(blob, path).find("no plain file name") != std::string::npos);
  }
  CHECK(entries(parent.path()) == 0);
  parent.put("taken", "x");
  CHECK(begin_error(good, parent.path("taken")).find("is there already") != std::string::npos);
  CHECK(begin_error(good, parent.path("no/such")).find("/no: ") != std::string::npos);
}

TEST_CASE("a value beyond float16 is an error, an infinity is not") {
  hf_test::Folder parent;
  Plan plan;
  plan.add("a", "safetensors.f16/1", 1, 2);
  void* writer = nullptr;
  REQUIRE(kCalls.write_begin(nullptr, mortise::str(parent.path("out")), plan.c(), &writer, nullptr) ==
          MORTISE_OK);
  const float fits[2] = {65504, -INFINITY}, beyond[2] = {1, 65520};
  mortise_error error = mortise::c_error();
  CHECK(kCalls.write_rows(nullptr, writer, 0, 0, 1, fits, nullptr, &error) == MORTISE_OK);
  CHECK(kCalls.write_rows(nullptr, writer, 0, 0, 1, beyond, nullptr, &error) == MORTISE_BAD_DATA);
  CHECK(std::string(error.message).find("write bf16") != std::string::npos);
  kCalls.write_abort(nullptr, writer);
}

TEST_CASE("large models are cut into shards that an index names") {
  hf_test::Folder parent;
  const auto* dtype = mortise::hf::find_dtype("U8");
  Plan plan;
  const auto begin = [&](const std::string& name, std::vector<mortise::hf::OutTensor> tensors) {
    auto writer = mortise::hf::FolderWriter::begin(parent.path(name), *plan.c(), std::move(tensors), 10);
    REQUIRE(writer);
    REQUIRE((*writer)->write(0, 2, "xyz"));
    CHECK_FALSE((*writer)->write(0, 4, "xyz"));
    REQUIRE((*writer)->end());
  };
  begin("out", {{"a", dtype, {6}}, {"b", dtype, {2, 2}}, {"c", dtype, {40}}, {"d", dtype, {}}});
  CHECK(fs::exists(parent.path("out/model-00003-of-00003.safetensors")));
  CHECK_FALSE(fs::exists(parent.path("out/model.safetensors")));
  mortise_test::FakeHost host;
  const auto folder = mortise::hf::Folder::open(host.host(), parent.path("out"), false);
  INFO((folder ? "" : folder.error().text()));
  REQUIRE(folder);
  CHECK(folder->tensors().size() == 4);
  CHECK(folder->find("a")->file == folder->find("b")->file);
  CHECK(folder->find("c")->file != folder->find("b")->file);
  const auto* a = folder->find("a");
  CHECK(std::string(reinterpret_cast<const char*>(host.file(a->file)) + a->offset, 6) ==
        std::string("\0\0xyz\0", 6));
}
