// One use of an operation, described, bound and run as the host does it.
// Thread rule: test threads only. Flow: shared by the tests of ops plugins.
#pragma once
#include <mortise/ops.h>

#include <cmath>
#include <functional>
#include <list>

#include "plugins/kernel_test.h"

namespace mortise_test {

inline mortise_attr real(const char* name, double value) {
  return {name, MORTISE_FLOAT, 0, 0, value, nullptr, nullptr};
}
inline mortise_attr whole(const char* name, int64_t value) {
  return {name, MORTISE_INT, 0, value, 0, nullptr, nullptr};
}
inline mortise_attr text(const char* name, const char* value) {
  return {name, MORTISE_STRING, 0, 0, 0, value, nullptr};
}
inline mortise_attr list(const char* name, const std::vector<double>& values) {
  return {name, MORTISE_LIST, static_cast<uint32_t>(values.size()), 0, 0, nullptr, values.data()};
}

/// The description of a use; vectors and lists that it names must outlive it.
struct Use {
  std::string op;
  std::vector<uint64_t> input_cols;
  std::vector<mortise_attr> attrs;
  std::vector<const std::vector<float>*> vectors;  // null: absent

  /// Calls f(desc).
  void described(const std::function<void(const mortise_op_desc&)>& f) const {
    std::vector<const mortise_attr*> attr_list;
    for (const auto& a : attrs) attr_list.push_back(&a);
    std::list<mortise_op_vector> held;
    std::vector<const mortise_op_vector*> vector_list;
    for (const auto* v : vectors) {
      if (v != nullptr) held.push_back({sizeof(mortise_op_vector), 0, v->size(), v->data()});
      vector_list.push_back(v == nullptr ? nullptr : &held.back());
    }
    f({sizeof(mortise_op_desc), static_cast<uint32_t>(input_cols.size()), static_cast<uint32_t>(attrs.size()),
       static_cast<uint32_t>(vectors.size()), op.c_str(), input_cols.data(), attr_list.data(),
       vector_list.data()});
  }
};

inline uint32_t claim_of(const mortise_ops& table, void* self, const std::string& op) {
  uint32_t count = 0;
  const mortise_op_claim* const* claims = table.claims(self, &count);
  for (uint32_t i = 0; i < count; ++i)
    if (op == claims[i]->op) return i;
  FAIL("no claim for " << op);
  return 0;
}

/// Runs a use on inputs[i][rows][input_cols[i]]; rows of memory lie `gap` floats apart. With `in_place` the
/// result overwrites input 0.
inline std::vector<float> run_op(const mortise_ops& table, void* self, const Use& use,
                                 const std::vector<std::vector<float>>& inputs, uint64_t rows,
                                 const std::vector<int32_t>& positions = {}, bool in_place = false,
                                 uint64_t gap = 0, const std::vector<uint32_t>& lengths = {}) {
  const uint32_t claim = claim_of(table, self, use.op);
  void* op = nullptr;
  uint64_t cols = 0;
  mortise_error error = mortise::c_error();
  use.described([&](const mortise_op_desc& desc) {
    const mortise_status status = table.infer(self, claim, &desc, &cols, &error);
    INFO(error.message);
    REQUIRE(status == MORTISE_OK);
    REQUIRE(table.bind(self, claim, &desc, &op, &error) == MORTISE_OK);
  });
  std::vector<std::vector<float>> spread;
  std::vector<const float*> pointers;
  std::vector<uint64_t> strides;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint64_t width = use.input_cols[i];
    std::vector<float> memory(rows * (width + gap), NAN);
    for (uint64_t r = 0; r < rows; ++r) std::copy_n(&inputs[i][r * width], width, &memory[r * (width + gap)]);
    spread.push_back(std::move(memory));
    pointers.push_back(spread.back().data());
    strides.push_back(width + gap);
  }
  std::vector<float> out(rows * (cols + gap), 12345.0f);
  float* to = in_place ? spread[0].data() : out.data();
  mortise_plan plan{sizeof(plan), 0, 0};
  table.plan(self, op, rows, 2, &plan);
  const mortise_op_args args{sizeof(args),    plan.tasks,       rows,
                             pointers.data(), strides.data(),   to,
                             cols + gap,      positions.data(), lengths.data()};
  for (uint32_t task = plan.tasks; task-- > 0;) {
    Scratch scratch(plan.scratch_bytes);
    table.run(self, op, &args, task, scratch.data());
  }
  table.unbind(self, op);
  std::vector<float> packed;
  for (uint64_t r = 0; r < rows; ++r) {
    packed.insert(packed.end(), to + r * (cols + gap), to + r * (cols + gap) + cols);
    for (uint64_t g = 0; g < gap; ++g) {
      const float untouched = to[r * (cols + gap) + cols + g];
      CHECK((std::isnan(untouched) || untouched == 12345.0f));
    }
  }
  return packed;
}

}  // namespace mortise_test
