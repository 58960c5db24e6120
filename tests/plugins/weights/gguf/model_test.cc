// The weights and format parts through their C tables, with a host that maps from memory.
// Thread rule: single-threaded. Flow: tests plugins/weights/gguf/model.cc and format.cc.
#include "model.h"

#include <catch2/catch.hpp>

#include "format.h"
#include "writer.h"

using gguf_test::read_bytes;
using gguf_test::small_file;

namespace {

/// Knows one file, "m.gguf", as number 7.
struct FakeHost {
  std::string bytes;
  mortise_host table{};

  explicit FakeHost(std::string content, bool fast = true) : bytes(std::move(content)) {
    table.size = sizeof(table);
    table.ctx = this;
    table.map_file = [](void* ctx, mortise_str path, uint32_t* file, mortise_bytes* view,
                        mortise_error* error) {
      auto& self = *static_cast<FakeHost*>(ctx);
      if (mortise::view(path) != "m.gguf")
        return mortise::to_c({mortise::Code::io, std::string(mortise::view(path)), "cannot be opened"},
                             error);
      *file = 7;
      *view = {reinterpret_cast<const uint8_t*>(self.bytes.data()), self.bytes.size()};
      return static_cast<mortise_status>(MORTISE_OK);
    };
    table.has_isa = fast ? [](void*, mortise_str) { return 1; } : [](void*, mortise_str) { return 0; };
  }
};

const mortise_weights& weights = gguf::kWeightsTable;

void* open_model(gguf::Weights& self, uint32_t flags = 0) {
  void* model = nullptr;
  mortise_error error = mortise::c_error();
  INFO(error.message);
  REQUIRE(weights.open(&self, mortise::str("m.gguf"), flags, &model, &error) == MORTISE_OK);
  return model;
}

}  // namespace

TEST_CASE("probe knows the magic and, less surely, the name") {
  const std::string head = small_file(3, 32).bytes.substr(0, 16);
  const auto probe = [](std::string_view path, std::string_view bytes) {
    return weights.probe(nullptr, mortise::str(path),
                         {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  };
  CHECK(probe("model.bin", head) == 100);
  CHECK(probe("empty.gguf", "") == 10);
  CHECK(probe("folder", "") == 0);
  CHECK(probe("model.safetensors", "{\"a\":") == 0);
}

TEST_CASE("an open model shows metadata, tensors and planes") {
  FakeHost host(small_file(3, 32).bytes);
  gguf::Weights self(mortise::Host(&host.table), {});
  void* model = open_model(self);
  CHECK(std::string(weights.dialect(&self, model)) == "gguf");
  CHECK(weights.meta_count(&self, model) == 10);
  mortise_meta value{};
  REQUIRE(weights.meta(&self, model, mortise::str("a.ints"), &value) == MORTISE_OK);
  CHECK(value.is_array == 1);
  REQUIRE(value.count == 3);
  CHECK(static_cast<const int64_t*>(value.data)[0] == -1);
  mortise_meta again{};
  REQUIRE(weights.meta(&self, model, mortise::str("a.ints"), &again) == MORTISE_OK);
  CHECK(again.data == value.data);
  CHECK(weights.meta(&self, model, mortise::str("absent"), &value) == MORTISE_NOT_FOUND);
  mortise_str key{};
  REQUIRE(weights.meta_at(&self, model, 0, &key, &value) == MORTISE_OK);
  CHECK(mortise::view(key) == "general.architecture");
  CHECK(mortise::view(*static_cast<const mortise_str*>(value.data)) == "llama");
  CHECK(weights.meta_at(&self, model, 10, &key, &value) == MORTISE_NOT_FOUND);
  mortise_bytes blob{};
  CHECK(weights.blob(&self, model, mortise::str("tokenizer.json"), &blob) == MORTISE_NOT_FOUND);

  REQUIRE(weights.tensor_count(&self, model) == 3);
  const mortise_tensor* tensor = weights.tensor(&self, model, 2);
  CHECK(mortise::view(tensor->name) == "w");
  CHECK(tensor->rank == 2);
  CHECK(tensor->shape[0] == 2);
  CHECK(tensor->shape[1] == 32);
  CHECK(std::string(tensor->format) == "gguf.q8_0/1");
  REQUIRE(tensor->plane_count == 1);
  const mortise_plane& plane = *tensor->planes[0];
  CHECK(plane.file == 7);
  CHECK(plane.length == 68);
  CHECK(plane.offset % 32 == 0);
  CHECK(std::string(plane.role) == "data");
  CHECK(std::string(plane.dtype) == "block");
  CHECK(weights.tensor(&self, model, 3) == nullptr);
  weights.close(&self, model);
}

TEST_CASE("errors of the host and of the file reach the caller with where and offset") {
  FakeHost host(small_file(3, 32).bytes + "x");
  gguf::Weights self(mortise::Host(&host.table), {});
  void* model = nullptr;
  mortise_error error = mortise::c_error();
  CHECK(weights.open(&self, mortise::str("other.gguf"), 0, &model, &error) == MORTISE_IO);
  CHECK(std::string(error.where) == "other.gguf");
  error = mortise::c_error();
  CHECK(weights.open(&self, mortise::str("m.gguf"), 0, &model, &error) == MORTISE_BAD_DATA);
  CHECK(std::string(error.where) == "m.gguf");
  CHECK(error.offset == host.bytes.size() - 1);
  CHECK(model == nullptr);
}

TEST_CASE("a header-only file opens where it is asked for") {
  const std::string whole = small_file(3, 32).bytes;
  FakeHost host(whole.substr(0, gguf_test::parse(whole)->header_bytes));
  gguf::Weights self(mortise::Host(&host.table), {});
  void* model = nullptr;
  CHECK(weights.open(&self, mortise::str("m.gguf"), 0, &model, nullptr) == MORTISE_BAD_DATA);
  model = open_model(self, MORTISE_OPEN_HEADER_ONLY);
  const mortise_plane& plane = *weights.tensor(&self, model, 0)->planes[0];
  CHECK(plane.offset + plane.length > host.bytes.size());
  weights.close(&self, model);
}

TEST_CASE("formats validate a tensor and decode any of its rows") {
  const std::string raw = read_bytes(MORTISE_TEST_DATA "/fixtures/blocks/Q4_K.quant.raw");
  const std::string want = read_bytes(MORTISE_TEST_DATA "/fixtures/blocks/Q4_K.quant.f32");
  mortise_plane plane{sizeof(mortise_plane), 7, 0, raw.size(), "data", "block", {0, 0}};
  const mortise_plane* planes[] = {&plane};
  mortise_tensor tensor{};
  tensor.size = sizeof(tensor);
  tensor.rank = 3;
  tensor.name = mortise::str("t");
  tensor.format = "gguf.q4_k/1";
  tensor.shape[0] = 2;
  tensor.shape[1] = 4;
  tensor.shape[2] = 512;
  tensor.plane_count = 1;
  tensor.planes = planes;
  for (bool fast : {false, true}) {
    if (fast && !__builtin_cpu_supports("avx2")) continue;
    FakeHost host("", fast);
    gguf::Format<12> format(mortise::Host(&host.table), {});
    REQUIRE(gguf::validate_tensor(&format, &tensor, nullptr) == MORTISE_OK);
    const void* memory[] = {raw.data()};
    std::vector<float> out(3 * 512);
    gguf::decode_tensor_rows(&format, &tensor, memory, 5, 3, out.data());
    CHECK(std::memcmp(out.data(), want.data() + 5 * 512 * 4, out.size() * 4) == 0);

    const auto refuses = [&](auto change) {
      mortise_tensor bad = tensor;
      change(bad);
      return gguf::validate_tensor(&format, &bad, nullptr) == MORTISE_BAD_DATA;
    };
    CHECK(refuses([](mortise_tensor& t) { t.shape[2] = 500; }));
    CHECK(refuses([](mortise_tensor& t) { t.shape[1] = 5; }));
    CHECK(refuses([](mortise_tensor& t) { t.shape[0] = uint64_t{1} << 62; }));
    CHECK(refuses([](mortise_tensor& t) { t.rank = 0; }));
    CHECK(refuses([](mortise_tensor& t) { t.rank = 5; }));
    CHECK(refuses([](mortise_tensor& t) { t.plane_count = 2; }));
    CHECK(refuses([](mortise_tensor& t) { t.param_count = 1; }));
  }
}
