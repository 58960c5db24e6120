// A weight of a made-up format and everything needed to run it through a linear plugin's table.
// Thread rule: test threads only. Flow: shared by the tests of linear plugins.
#pragma once
#include <mortise/linear.h>

#include <algorithm>
#include <cmath>

#include "plugins/kernel_test.h"

namespace mortise_test {

/// Blocks of `block` int8 values with a float scale before them ("test.i8/1"), or the same in two planes.
struct TestFormat {
  uint64_t block;
  bool planar;
  mortise_format table{};

  TestFormat(uint64_t block_elements, bool two_planes) : block(block_elements), planar(two_planes) {
    table.size = sizeof(table);
    table.id = "test.i8/1";
    table.block_elements = planar ? 0 : block;
    table.block_bytes = planar ? 0 : block + sizeof(float);
    table.decode_rows = &decode;
  }
  static void decode(void* self, const mortise_tensor* tensor, const void* const* planes, uint64_t row0,
                     uint64_t rows, float* out) {
    const auto& f = *static_cast<const TestFormat*>(self);
    const uint64_t blocks = tensor->shape[1] / f.block;
    for (uint64_t b = row0 * blocks; b < (row0 + rows) * blocks; ++b) {
      const auto* first = static_cast<const uint8_t*>(planes[0]);
      const uint8_t* scale_at = f.planar ? static_cast<const uint8_t*>(planes[1]) + b * sizeof(float)
                                         : first + b * (f.block + sizeof(float));
      const uint8_t* codes = f.planar ? first + b * f.block : scale_at + sizeof(float);
      float scale;
      std::memcpy(&scale, scale_at, sizeof(scale));
      for (uint64_t i = 0; i < f.block; ++i)
        *out++ = scale * static_cast<float>(static_cast<int8_t>(codes[i]));
    }
  }
};

/// Rows [row0, row0 + rows) of a random tensor of row0 + rows + 3 rows.
struct TestWeight {
  TestFormat format;
  std::vector<uint8_t> codes, scales;
  mortise_plane planes[2]{};
  const mortise_plane* plane_list[2] = {&planes[0], &planes[1]};
  mortise_tensor tensor{};
  mortise_linear_desc desc{};
  std::vector<float> values;  // [rows][k], decoded

  TestWeight(Random& random, uint64_t row0, uint64_t rows, uint64_t k, uint64_t block, bool planar)
      : format(block, planar) {
    const uint64_t blocks = (row0 + rows + 3) * (k / block);
    for (uint64_t b = 0; b < blocks; ++b) {
      const float scale = 0.01f * random.normal();
      uint8_t bytes[sizeof(scale)];
      std::memcpy(bytes, &scale, sizeof(scale));
      auto& to = planar ? scales : codes;
      to.insert(to.end(), bytes, bytes + sizeof(scale));
      for (uint64_t i = 0; i < block; ++i) codes.push_back(static_cast<uint8_t>(random.below(256)));
    }
    planes[0].size = planes[1].size = sizeof(mortise_plane);
    planes[0].length = codes.size();
    planes[1].length = scales.size();
    tensor.size = sizeof(tensor);
    tensor.rank = 2;
    tensor.format = format.table.id;
    tensor.shape[0] = row0 + rows + 3;
    tensor.shape[1] = k;
    tensor.plane_count = planar ? 2 : 1;
    tensor.planes = plane_list;
    desc = {sizeof(desc), 0, row0, rows, k, &tensor, &format.table, &format};
    values.resize(rows * k);
    const void* memory[2] = {codes.data(), scales.data()};
    TestFormat::decode(&format, &tensor, memory, row0, rows, values.data());
  }
  TestWeight(const TestWeight&) = delete;
};

/// A packed and bound weight of a plugin's table.
class Bound {
 public:
  Bound(const mortise_linear& table, void* self, const TestWeight& weight, uint64_t piece = 1000)
      : table_(table), self_(self), desc_(weight.desc), packed_(table.packed_bytes(self, 0, &weight.desc)) {
    const void* memory[2] = {weight.codes.data(), weight.scales.data()};
    for (uint64_t row = 0; row < weight.desc.rows; row += piece) {
      const uint64_t rows = std::min(piece, weight.desc.rows - row);
      REQUIRE(table.pack(self, 0, &weight.desc, memory, row, rows, packed_.data(), nullptr) == MORTISE_OK);
    }
    REQUIRE(packed_.intact());
    REQUIRE(table.bind(self, 0, &weight.desc, packed_.data(), &weight_, nullptr) == MORTISE_OK);
  }
  ~Bound() { table_.unbind(self_, weight_); }
  Bound(const Bound&) = delete;
  void* weight() const { return weight_; }

  /// Runs all tasks of a plan for `workers`, in descending order.
  void run(mortise_linear_args args, uint32_t workers) const {
    mortise_plan plan{sizeof(plan), 0, 0};
    table_.plan(self_, 0, &desc_, args.m, workers, &plan);
    args.size = sizeof(args);
    args.tasks = plan.tasks;
    for (uint32_t task = plan.tasks; task-- > 0;) {
      Scratch scratch(plan.scratch_bytes);
      table_.run(self_, weight_, &args, task, scratch.data());
      REQUIRE(scratch.intact());
    }
  }

 private:
  const mortise_linear& table_;
  void* self_;
  const mortise_linear_desc& desc_;
  Scratch packed_;
  void* weight_ = nullptr;
};

}  // namespace mortise_test
