// Uses of ops/reference compared with float64 and with themselves: rows alone and among others, in place, in
// every build. Thread rule: one thread. Flow: shared by the tests of ops/reference.
#pragma once
#include "ops.h"
#include "plugins/ops/op_test.h"

namespace mortise_test {

using ops_reference::kTable;

using Rows = std::vector<std::vector<double>>;

/// A row's position, and the length that its sequence was admitted for.
struct Where {
  int32_t position;
  uint32_t length;
};

/// A use, its inputs' scale, the float64 result of one row, and the error allowed.
struct Case {
  std::string name;
  Use use;
  float scale;
  std::function<std::vector<double>(const Rows&, Where)> exact;
  double relative, absolute;
};
inline Case elementwise(const std::string& name, const Use& use, float scale, double relative,
                        double absolute, const std::function<double(double, double)>& f) {
  return {name,
          use,
          scale,
          [f](const Rows& in, Where) {
            std::vector<double> out;
            for (size_t i = 0; i < in[0].size(); ++i)
              out.push_back(f(in[0][i], in.size() > 1 ? in[1][i] : 0));
            return out;
          },
          relative,
          absolute};
}

/// The largest error of `got` in units of what is allowed; NaN counts as infinite.
inline double excess(const Case& c, const std::vector<std::vector<float>>& inputs,
                     const std::vector<Where>& places, const std::vector<float>& got, uint64_t rows) {
  double worst = 0;
  for (uint64_t r = 0; r < rows; ++r) {
    Rows row;
    for (size_t i = 0; i < inputs.size(); ++i)
      row.emplace_back(&inputs[i][r * c.use.input_cols[i]],
                       &inputs[i][r * c.use.input_cols[i]] + c.use.input_cols[i]);
    const auto exact = c.exact(row, places[r]);
    const float* at = &got[r * exact.size()];
    for (size_t i = 0; i < exact.size(); ++i) {
      const double off =
          std::fabs(at[i] - exact[i]) / (c.relative * std::fabs(exact[i]) + c.absolute + 1e-30);
      worst = off <= worst ? worst : std::isnan(off) ? INFINITY : off;
    }
  }
  return worst;
}

inline ops_reference::Reference instance(const std::set<std::string>& denied) {
  FakeHost host(2, denied);
  return ops_reference::Reference(host.host(), {});
}

inline void check_case(const Case& c, Random& random) {
  constexpr uint64_t kRows = 19;
  CAPTURE(c.name, c.use.input_cols);
  std::vector<std::vector<float>> inputs;
  for (const uint64_t cols : c.use.input_cols) inputs.push_back(random.normals(kRows * cols, c.scale));
  std::vector<Where> places;
  std::vector<int32_t> positions;
  std::vector<uint32_t> lengths;
  for (uint64_t r = 0; r < kRows; ++r) {
    positions.push_back(static_cast<int32_t>(random.below(5000)));
    lengths.push_back(static_cast<uint32_t>(positions[r]) + 1 + random.below(3000));
    places.push_back({positions[r], lengths[r]});
  }
  const auto all_builds = isa_builds();
  uint32_t count = 0;
  auto base = instance(all_builds[0]);
  const auto whole_batch = run_op(kTable, &base, c.use, inputs, kRows, positions, false, 0, lengths);
  CHECK(excess(c, inputs, places, whole_batch, kRows) <= 1);
  const size_t cols = whole_batch.size() / kRows;
  const uint32_t claim = claim_of(kTable, &base, c.use.op);
  for (const auto& denied : all_builds) {
    auto other = instance(denied);
    CHECK(same_bits(run_op(kTable, &other, c.use, inputs, kRows, positions, false, 3, lengths), whole_batch));
    if (!c.use.input_cols.empty() && kTable.claims(&other, &count)[claim]->in_place != 0 &&
        c.use.input_cols[0] == cols)
      CHECK(
          same_bits(run_op(kTable, &other, c.use, inputs, kRows, positions, true, 0, lengths), whole_batch));
    for (const uint64_t r : {uint64_t{0}, uint64_t{7}, kRows - 1}) {
      std::vector<std::vector<float>> alone;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const float* at = &inputs[i][r * c.use.input_cols[i]];
        alone.emplace_back(at, at + c.use.input_cols[i]);
      }
      const float* at = &whole_batch[r * cols];
      CHECK(same_bits(run_op(kTable, &other, c.use, alone, 1, {positions[r]}, false, 0, {lengths[r]}),
                      {at, at + cols}));
    }
  }
}

}  // namespace mortise_test
