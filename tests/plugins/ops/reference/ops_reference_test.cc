// ops/reference against float64, and against itself: rows alone and among others, in place, every build.
// Thread rule: one thread. Flow: calls the plugin's table as the host does.
#include "op_case.h"

using namespace mortise_test;
using ops_reference::kTable;

namespace {

double gelu(double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double silu(double x) { return x / (1 + std::exp(-x)); }
double relu(double x) { return std::max(x, 0.0); }
double relu2(double x) { return relu(x) * relu(x); }

Case norm(uint64_t cols, uint64_t width, bool rms, const std::vector<float>* w, const std::vector<float>* b) {
  Use use{"mortise.norm/1", {cols}, {whole("rms", rms), real("eps", 1e-5)}, {w, b}};
  if (width != cols) use.attrs.push_back(whole("width", static_cast<int64_t>(width)));
  return {"norm " + std::to_string(cols),
          use,
          3.0f,
          [=](const Rows& in, Where) {
            std::vector<double> out = in[0];
            for (uint64_t at = 0; at < cols; at += width) {
              double mean = 0, squares = 0;
              for (uint64_t i = 0; i < width && !rms; ++i) mean += out[at + i] / static_cast<double>(width);
              for (uint64_t i = 0; i < width; ++i) squares += (out[at + i] - mean) * (out[at + i] - mean);
              const double factor = 1 / std::sqrt(squares / static_cast<double>(width) + 1e-5f);
              for (uint64_t i = 0; i < width; ++i)
                out[at + i] = (out[at + i] - mean) * factor * (w == nullptr ? 1 : (*w)[i]) +
                              (b == nullptr ? 0 : (*b)[i]);
            }
            return out;
          },
          2e-6,
          2e-6};
}

Case rope(uint64_t heads, uint64_t head_dim, uint64_t dims, bool interleaved) {
  const Use use{"mortise.rope/1",
                {heads * head_dim, dims},
                {whole("head_dim", static_cast<int64_t>(head_dim)), whole("dims", static_cast<int64_t>(dims)),
                 whole("interleaved", interleaved)},
                {}};
  return {"rope",
          use,
          1.0f,
          [=](const Rows& in, Where) {
            std::vector<double> out = in[0];
            for (uint64_t h = 0; h < heads; ++h)
              for (uint64_t i = 0; i < dims / 2; ++i) {
                const uint64_t at = h * head_dim;
                const uint64_t a = at + (interleaved ? 2 * i : i),
                               b = at + (interleaved ? 2 * i + 1 : i + dims / 2);
                const double c = in[1][i], s = in[1][i + dims / 2];
                out[a] = in[0][a] * c - in[0][b] * s;
                out[b] = in[0][b] * c + in[0][a] * s;
              }
            return out;
          },
          1e-6,
          1e-6};
}

Case rope_table(const std::vector<double>& frequencies) {
  const Use use{
      "mortise.rope_table/1", {}, {list("inverse_frequencies", frequencies), real("factor", 1.25)}, {}};
  return {"rope_table",
          use,
          1.0f,
          [=](const Rows&, Where at) {
            std::vector<double> out;
            for (const double f : frequencies) out.push_back(1.25 * std::cos(at.position * f));
            for (const double f : frequencies) out.push_back(1.25 * std::sin(at.position * f));
            return out;
          },
          1e-7,
          1e-7};
}

const std::vector<double> kFrequencies = {1.0, 0.31, 0.07, 1e-4, 0.5};

std::vector<Case> cases(const std::vector<float>& w) {
  const uint64_t n = w.size();
  std::vector<Case> all = {elementwise("add", {"mortise.add/1", {n, n}, {}, {}}, 1, 1e-7, 0,
                                       [](double a, double b) { return a + b; }),
                           elementwise("add scaled", {"mortise.add/1", {n, n}, {real("scale_b", 0.5)}, {}}, 1,
                                       1e-7, 0, [](double a, double b) { return a + 0.5 * b; }),
                           elementwise("mul", {"mortise.mul/1", {n, n}, {}, {}}, 1, 1e-7, 0,
                                       [](double a, double b) { return a * b; }),
                           elementwise("scale", {"mortise.scale/1", {n}, {real("c", -1.5)}, {}}, 1, 1e-7, 0,
                                       [](double a, double) { return -1.5 * a; }),
                           elementwise("softcap", {"mortise.softcap/1", {n}, {real("c", 20)}, {}}, 30, 5e-7,
                                       0, [](double a, double) { return 20 * std::tanh(a / 20); }),
                           norm(n, n, true, &w, nullptr),
                           norm(n, n, false, &w, &w),
                           norm(n, n, false, nullptr, nullptr),
                           norm(3 * n, n, true, &w, nullptr),
                           norm(2 * n, n, false, &w, nullptr)};
  const std::vector<std::pair<const char*, double (*)(double)>> kinds = {
      {"silu", silu}, {"gelu", gelu}, {"gelu_tanh", gelu_tanh}, {"relu", relu}, {"relu2", relu2}};
  for (const auto& [kind, f] : kinds) {
    const auto exact = f;
    all.push_back(elementwise(kind, {"mortise.act/1", {n}, {text("kind", kind)}, {}}, 3, 1e-6, 5e-7,
                              [exact](double a, double) { return exact(a); }));
    all.push_back(elementwise(kind, {"mortise.act_mul/1", {n, n}, {text("kind", kind)}, {}}, 3, 1e-6, 3e-6,
                              [exact](double a, double b) { return exact(a) * b; }));
  }
  return all;
}

}  // namespace

TEST_CASE("ops reference agrees with float64, alone and in batches, in every build", "[ops]") {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  for (const uint64_t n : {1, 3, 16, 37, 64, 576, 1000}) {
    Random random(n);
    const auto w = random.normals(n);
    for (const Case& c : cases(w)) check_case(c, random);
  }
  Random random(7);
  check_case(rope_table(kFrequencies), random);
  for (const uint64_t dims : {2, 12, 24, 64, 80, 128})
    for (const bool interleaved : {false, true}) {
      check_case(rope(3, dims, dims, interleaved), random);
      check_case(rope(2, dims + 5, dims, interleaved), random);
    }
}

TEST_CASE("ops reference lets NaN and infinity through", "[ops]") {
  FlushToZero flush;
  auto plugin = instance({});
  const std::vector<float> x = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 0.0f, -0.0f, 100.0f, -100.0f};
  const uint64_t n = x.size();
  for (const char* kind : {"silu", "gelu", "gelu_tanh", "relu", "relu2"}) {
    CAPTURE(kind);
    const auto y = run_op(kTable, &plugin, {"mortise.act/1", {n}, {text("kind", kind)}, {}}, {x}, 1);
    CHECK(std::isnan(y[0]));
    CHECK(y[1] == INFINITY);
    CHECK(y[5] == 0.0f);
    if (std::string(kind) != "relu2") CHECK(y[7] == 100.0f);
    CHECK(y[8] == 0.0f);
  }
  const auto capped = run_op(kTable, &plugin, {"mortise.softcap/1", {n}, {real("c", 30)}, {}}, {x}, 1);
  CHECK(std::isnan(capped[0]));
  CHECK(capped[1] == 30.0f);
  CHECK(capped[2] == -30.0f);
  const auto normed = run_op(kTable, &plugin, {"mortise.norm/1", {n}, {whole("rms", 1), real("eps", 0)}, {}},
                             {std::vector<float>(n, 0.0f)}, 1);
  CHECK(std::isnan(normed[0]));  // 0 / 0, and no crash
}

TEST_CASE("ops reference splits rows over tasks and gives padding rows position 0", "[ops]") {
  auto plugin = instance({});
  Random random(8);
  const Use use{"mortise.scale/1", {2000}, {real("c", 2)}, {}};
  const auto x = random.normals(100 * 2000);
  const auto y = run_op(kTable, &plugin, use, {x}, 100);
  for (size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == 2 * x[i]);
  const Case table = rope_table(kFrequencies);
  const auto rows = run_op(kTable, &plugin, table.use, {}, 2, {-1, 0});
  CHECK(std::equal(rows.begin(), rows.begin() + 10, rows.begin() + 10));
}

TEST_CASE("ops checks catch planted faults", "[ops]") {
  Random random(9);
  const auto w = random.normals(100);
  const Case c = norm(100, 100, true, &w, nullptr);
  const auto x = random.normals(100, 3);
  auto plugin = instance({});
  auto y = run_op(kTable, &plugin, c.use, {x}, 1);
  CHECK(excess(c, {x}, {{0, 0}}, y, 1) <= 1);
  y[99] += 0.001f;
  CHECK(excess(c, {x}, {{0, 0}}, y, 1) > 1);
  y[99] = NAN;
  CHECK(excess(c, {x}, {{0, 0}}, y, 1) > 1);
}
