// The planar formats as a host meets them: parts, checks of tensors that no opener of ours would compose, and
// a group index that is wrong in spite of all checks. Thread rule: single-threaded. Flow: tests
// plugins/weights/ {awq,gptq,compressed_tensors}; the Python tests beside it compare values.
#include <dlfcn.h>
#include <mortise/plugin.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "awq/gemm.h"
#include "compressed_tensors/layout.h"
#include "gptq/packed.h"

namespace {

using compressed_tensors::Kind;

/// A tensor of zero bytes that a test fills and spoils.
struct Tensor {
  std::deque<mortise_plane> planes;
  std::deque<mortise_attr> params;
  std::deque<std::vector<uint8_t>> bytes;
  std::vector<const mortise_plane*> plane_list;
  std::vector<const mortise_attr*> param_list;
  mortise_tensor tensor{};

  Tensor(const char* format, uint64_t out, uint64_t in) {
    tensor.size = sizeof(tensor);
    tensor.rank = 2;
    tensor.name = mortise::str("w");
    tensor.format = format;
    tensor.shape[0] = out;
    tensor.shape[1] = in;
  }
  Tensor& plane(const char* role, const char* dtype, uint64_t rows, uint64_t columns, uint64_t width) {
    bytes.emplace_back(rows * columns * width);
    planes.push_back({sizeof(mortise_plane), 0, 0, rows * columns * width, role, dtype, {rows, columns}});
    plane_list.push_back(&planes.back());
    return *this;
  }
  Tensor& param(const char* name, int64_t value) {
    params.push_back({name, MORTISE_INT, 1, value, 0, nullptr, nullptr});
    param_list.push_back(&params.back());
    return *this;
  }
  const mortise_tensor& get() {
    tensor.planes = plane_list.data();
    tensor.plane_count = static_cast<uint32_t>(plane_list.size());
    tensor.params = param_list.data();
    tensor.param_count = static_cast<uint32_t>(param_list.size());
    return tensor;
  }
  std::vector<const void*> data() const {
    std::vector<const void*> out;
    for (const auto& b : bytes) out.push_back(b.data());
    return out;
  }
};

Tensor awq_tensor() {
  Tensor out("awq.gemm/1", 16, 64);
  out.plane("codes", "i32", 64, 2, 4).plane("zeros", "i32", 2, 2, 4).plane("scales", "f16", 2, 16, 2);
  out.param("bits", 4).param("group_size", 32);
  return out;
}

Tensor gptq_tensor(uint64_t group_size, uint64_t in) {
  Tensor out("gptq.int8/1", 4, in);
  const uint64_t groups = (in + group_size - 1) / group_size;
  out.plane("codes", "i32", in / 4, 4, 4).plane("zeros", "i32", groups, 1, 4);
  out.plane("scales", "f32", groups, 4, 4).plane("group_index", "i32", in, 1, 4);
  out.param("bits", 8).param("group_size", static_cast<int64_t>(group_size)).param("zero_offset", 0);
  return out;
}

std::string refusal(const mortise::Result<void>& checked) {
  REQUIRE_FALSE(checked);
  return checked.error().message;
}

}  // namespace

TEST_CASE("each plugin offers its weights part and its formats") {
  const std::map<std::string, std::set<std::string>> wanted = {
      {"awq", {"weights:awq", "format:awq.gemm"}},
      {"gptq", {"weights:gptq", "format:gptq.int4", "format:gptq.int8"}},
      {"compressed_tensors",
       {"weights:compressed_tensors", "format:compressed.pack4", "format:compressed.pack8",
        "format:compressed.int8", "format:compressed.fp8"}}};
  for (const auto& [name, parts] : wanted) {
    const std::string file = std::string(MORTISE_TEST_BUILD "/lib/mortise/mortise-weights-") + name + ".so";
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO((library == nullptr ? dlerror() : ""));
    REQUIRE(library != nullptr);
    auto* entry = reinterpret_cast<mortise_plugin_entry*>(dlsym(library, MORTISE_ENTRY_NAME));
    REQUIRE(entry != nullptr);
    std::set<std::string> found;
    for (uint32_t i = 0; i < entry()->part_count; ++i) {
      const mortise_part& part = *entry()->parts[i];
      found.insert(std::string(part.kind) + ":" + part.name);
      if (std::string_view(part.kind) != "format") continue;
      const auto& table = *static_cast<const mortise_format*>(part.table);
      CHECK(table.id == std::string(part.name) + "/1");
      CHECK(table.block_elements == 0);
    }
    CHECK(found == parts);
  }
}

TEST_CASE("a planar tensor with foreign planes or parameters is refused") {
  CHECK(awq::validate(awq_tensor().get()));
  CHECK_THAT(refusal(awq::validate(awq_tensor().param("more", 1).get())), Catch::Contains("'more'"));
  CHECK_THAT(refusal(awq::validate(awq_tensor().plane("zeros", "i32", 2, 2, 4).get())),
             Catch::Contains("'zeros'"));
  CHECK_THAT(refusal(awq::validate(awq_tensor().plane("group_index", "i32", 64, 1, 4).get())),
             Catch::Contains("'group_index'"));
  Tensor tensor = awq_tensor();
  SECTION("rank") { tensor.tensor.rank = 3; }
  SECTION("no rows") { tensor.tensor.shape[0] = 0; }
  SECTION("rows that are no whole words") { tensor.tensor.shape[0] = 15; }
  SECTION("a huge row") { tensor.tensor.shape[1] = uint64_t{1} << 62; }
  SECTION("length") { tensor.planes[0].length -= 1; }
  SECTION("type of a parameter") { tensor.params[0].type = MORTISE_FLOAT; }
  SECTION("group size 0") { tensor.params[1].i = 0; }
  SECTION("group size of no divisor") { tensor.params[1].i = 48; }
  SECTION("group size below 0") { tensor.params[1].i = -1; }
  CHECK_FALSE(awq::validate(tensor.get()));
}

TEST_CASE("a group index that is out of range in spite of the check reads the last group") {
  Tensor gptq = gptq_tensor(4, 12);
  const float scales[] = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  std::memcpy(gptq.bytes[2].data(), scales, sizeof(scales));
  for (uint8_t& code : gptq.bytes[0]) code = 1;
  std::memset(gptq.bytes[3].data(), 0xff, 4 * 4);
  REQUIRE(gptq::validate(gptq.get(), 8));
  std::vector<float> out(4 * 12);
  gptq::decode_rows(gptq.get(), 8, gptq.data().data(), 0, 4, out.data());
  for (int row = 0; row < 4; ++row)
    for (int k = 0; k < 12; ++k) CHECK(out[row * 12 + k] == (k < 4 ? 3 : 1));

  Tensor packed("compressed.int8/1", 1, 8);
  packed.plane("codes", "i8", 1, 8, 1).plane("scales", "f32", 1, 2, 4).plane("group_index", "i32", 8, 1, 4);
  packed.param("bits", 8).param("group_size", 4).param("group_rows", 1);
  std::memcpy(packed.bytes[1].data(), scales + 3, 2 * sizeof(float));
  for (uint8_t& code : packed.bytes[0]) code = 1;
  std::memset(packed.bytes[2].data(), 0x7f, 4 * 8);
  REQUIRE(compressed_tensors::validate(packed.get(), Kind::int8));
  compressed_tensors::decode_rows(packed.get(), Kind::int8, packed.data().data(), 0, 1, out.data());
  for (int k = 0; k < 8; ++k) CHECK(out[k] == 2);
}

TEST_CASE("an index over more groups than the limit is refused by its name") {
  CHECK(gptq::validate(gptq_tensor(4, 4 * gptq::kIndexedGroupsMax).get(), 8));
  CHECK_THAT(refusal(gptq::validate(gptq_tensor(4, 4 * gptq::kIndexedGroupsMax + 4).get(), 8)),
             Catch::Contains("2048"));
}

TEST_CASE("FP8 codes have the values of E4M3") {
  Tensor tensor("compressed.fp8/1", 1, 256);
  tensor.plane("codes", "f8_e4m3", 1, 256, 1).plane("scales", "f32", 1, 1, 4);
  tensor.param("bits", 8).param("group_size", 256).param("group_rows", 1);
  for (size_t i = 0; i < 256; ++i) tensor.bytes[0][i] = static_cast<uint8_t>(i);
  const float one = 1;
  std::memcpy(tensor.bytes[1].data(), &one, sizeof(one));
  REQUIRE(compressed_tensors::validate(tensor.get(), Kind::fp8));
  std::vector<float> out(256);
  compressed_tensors::decode_rows(tensor.get(), Kind::fp8, tensor.data().data(), 0, 1, out.data());
  CHECK(out[0x01] == 0x1p-9f);  // the smallest
  CHECK(out[0x08] == 0x1p-6f);  // the smallest normal one
  CHECK(out[0x38] == 1);
  CHECK(out[0x7e] == 448);  // the largest
  CHECK(out[0xb8] == -1);
  CHECK(std::isnan(out[0x7f]));
  CHECK(std::isnan(out[0xff]));
}
