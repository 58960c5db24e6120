// linear/reference against float64, and against itself: rows alone and among others, every build, every
// split. Thread rule: one thread. Flow: calls the plugin's table as the host does.
#include "linear.h"

#include "plugins/linear/linear_test.h"

using namespace mortise_test;
using linear_reference::kTable;

namespace {

struct Shape {
  uint64_t n, k, block;
  bool planar;
};
const std::vector<Shape> kShapes = {{1, 1, 1, false},    {3, 7, 7, false},   {17, 33, 11, false},
                                    {64, 96, 32, false}, {5, 260, 20, true}, {131, 576, 32, true},
                                    {40, 1000, 8, false}};

linear_reference::Reference instance(const std::set<std::string>& denied) {
  FakeHost host(2, denied);
  return linear_reference::Reference(host.host(), {});
}

std::vector<float> multiply(const Bound& bound, const std::vector<float>& x, uint64_t m, const Shape& s,
                            uint32_t workers) {
  std::vector<float> y(m * s.n, NAN);
  bound.run({0, 0, m, x.data(), s.k, y.data(), s.n, nullptr, nullptr, 0}, workers);
  return y;
}

/// Largest |y - y64| / sum |x w|.
double error(const std::vector<float>& x, const TestWeight& w, const std::vector<float>& y, uint64_t m) {
  const uint64_t n = w.desc.rows, k = w.desc.k;
  double worst = 0;
  for (uint64_t i = 0; i < m; ++i)
    for (uint64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (uint64_t l = 0; l < k; ++l) {
        const double product = static_cast<double>(x[i * k + l]) * w.values[j * k + l];
        sum += product;
        size += std::fabs(product);
      }
      const double off = std::fabs(y[i * n + j] - sum) / (size + 1e-30);
      worst = off <= worst ? worst : off;  // NaN becomes the worst
    }
  return worst;
}

}  // namespace

TEST_CASE("linear reference agrees with float64 and is the same bits in every build", "[linear]") {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  for (const Shape& s : kShapes) {
    Random random(s.n * 1000 + s.k);
    const TestWeight weight(random, 2, s.n, s.k, s.block, s.planar);
    const auto x = random.normals(512 * s.k);
    const auto all_builds = isa_builds();
    auto base = instance(all_builds[0]);
    const Bound bound(kTable, &base, weight, 7);
    const auto y = multiply(bound, x, 512, s, 2);
    CAPTURE(s.n, s.k);
    CHECK(error(x, weight, y, 33) < 2e-6);
    for (const uint64_t m : {1, 2, 3, 7, 16, 33, 512})
      for (const auto& denied : all_builds) {
        auto other = instance(denied);
        const Bound again(kTable, &other, weight);
        const auto part = multiply(again, x, m, s, m % 3 + 1);
        CHECK(same_bits(part, {y.begin(), y.begin() + static_cast<ptrdiff_t>(m * s.n)}));
      }
  }
}

TEST_CASE("linear reference gives a row the same bits wherever it stands", "[linear]") {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  const Shape s{70, 99, 33, false};
  Random random(1);
  const TestWeight weight(random, 0, s.n, s.k, s.block, s.planar);
  auto plugin = instance({});
  const Bound bound(kTable, &plugin, weight);
  const uint64_t m = 37;
  const auto x = random.normals(m * s.k);
  const auto y = multiply(bound, x, m, s, 4);
  for (uint64_t i = 0; i < m; ++i) {
    const std::vector<float> row(x.begin() + static_cast<ptrdiff_t>(i * s.k),
                                 x.begin() + static_cast<ptrdiff_t>((i + 1) * s.k));
    CHECK(same_bits(multiply(bound, row, 1, s, 1), {y.begin() + static_cast<ptrdiff_t>(i * s.n),
                                                    y.begin() + static_cast<ptrdiff_t>((i + 1) * s.n)}));
  }
}

TEST_CASE("linear reference adds bias, then the residual in place, and honours strides", "[linear]") {
  FlushToZero flush;
  const Shape s{21, 48, 16, false};
  Random random(2);
  const TestWeight weight(random, 1, s.n, s.k, s.block, s.planar);
  auto plugin = instance({});
  const Bound bound(kTable, &plugin, weight);
  for (const uint64_t m : {1, 6}) {
    const uint64_t x_stride = s.k + 5, y_stride = s.n + 3;
    const auto x = random.normals(m * x_stride), bias = random.normals(s.n),
               before = random.normals(m * y_stride);
    std::vector<float> packed_x;
    for (uint64_t i = 0; i < m; ++i)
      packed_x.insert(packed_x.end(), &x[i * x_stride], &x[i * x_stride] + s.k);
    const auto plain = multiply(bound, packed_x, m, s, 1);
    auto y = before;
    bound.run({0, 0, m, x.data(), x_stride, y.data(), y_stride, bias.data(), y.data(), y_stride}, 3);
    for (uint64_t i = 0; i < m; ++i)
      for (uint64_t j = 0; j < y_stride; ++j) {
        const float was = before[i * y_stride + j];
        CHECK(y[i * y_stride + j] == (j < s.n ? (plain[i * s.n + j] + bias[j]) + was : was));
      }
  }
}

TEST_CASE("linear reference packs without a second copy and unpacks to the decoder's bits", "[linear]") {
  for (const Shape& s : kShapes) {
    Random random(3);
    const TestWeight weight(random, 4, s.n, s.k, s.block, s.planar);
    auto plugin = instance({});
    const uint64_t file = weight.codes.size() + weight.scales.size();
    if (s.planar)
      CHECK(kTable.packed_bytes(&plugin, 0, &weight.desc) <= file + 128);
    else
      CHECK(kTable.packed_bytes(&plugin, 0, &weight.desc) == file / (s.n + 7) * s.n);
    const Bound bound(kTable, &plugin, weight, 3);
    const std::vector<uint32_t> rows = {static_cast<uint32_t>(s.n - 1), 0, static_cast<uint32_t>(s.n / 2)};
    std::vector<float> out(rows.size() * s.k);
    kTable.unpack_rows(&plugin, bound.weight(), rows.data(), rows.size(), out.data());
    for (size_t i = 0; i < rows.size(); ++i)
      CHECK(std::memcmp(&out[i * s.k], &weight.values[rows[i] * s.k], s.k * sizeof(float)) == 0);
  }
}

TEST_CASE("linear reference passes NaN and infinity to the outputs they reach, and no further", "[linear]") {
  FlushToZero flush;
  const Shape s{9, 40, 8, false};
  Random random(4);
  const TestWeight weight(random, 0, s.n, s.k, s.block, s.planar);
  auto plugin = instance({});
  const Bound bound(kTable, &plugin, weight);
  auto x = random.normals(5 * s.k);
  const auto clean = multiply(bound, x, 5, s, 2);
  x[2 * s.k + 39] = NAN;
  x[4 * s.k] = INFINITY;
  const auto y = multiply(bound, x, 5, s, 2);
  for (uint64_t j = 0; j < s.n; ++j) {
    CHECK(std::isnan(y[2 * s.n + j]));
    CHECK_FALSE(std::isfinite(y[4 * s.n + j]));
    for (const uint64_t i : {0, 1, 3}) CHECK(y[i * s.n + j] == clean[i * s.n + j]);
  }
}

TEST_CASE("linear reference refuses what it can't run", "[linear]") {
  Random random(5);
  TestWeight weight(random, 0, 4, 32, 16, false);
  auto plugin = instance({});
  CHECK(kTable.accepts(&plugin, 0, &weight.desc, nullptr) == MORTISE_OK);
  mortise_error error = mortise::c_error();
  weight.desc.k = 31;
  CHECK(kTable.accepts(&plugin, 0, &weight.desc, &error) == MORTISE_UNSUPPORTED);
  CHECK(std::string(error.message).find("whole number of blocks") != std::string::npos);
  weight.desc.k = 32;
  weight.format.table.decode_rows = nullptr;
  CHECK(kTable.accepts(&plugin, 0, &weight.desc, &error) == MORTISE_UNSUPPORTED);
}

// The checks themselves: a sum in another order is caught by the bits, a lost product by the error. Of one
// row either may go unseen by chance, of forty none does.
TEST_CASE("linear checks catch planted faults", "[linear]") {
  Random random(6);
  const uint64_t n = 40, k = 600;
  const TestWeight weight(random, 0, n, k, 8, false);
  const auto x = random.normals(k);
  std::vector<float> ascending(n), lost(n);
  for (uint64_t i = 0; i < n; ++i)
    for (uint64_t l = 0; l < k; ++l) {
      const float product = x[l] * weight.values[i * k + l];
      ascending[i] += product;
      if (l != (i * 17) % k) lost[i] += product;
    }
  auto plugin = instance({});
  const Bound bound(kTable, &plugin, weight);
  CHECK_FALSE(same_bits(multiply(bound, x, 1, {n, k, 8, false}, 1), ascending));
  CHECK(error(x, weight, lost, 1) > 2e-6);
}
