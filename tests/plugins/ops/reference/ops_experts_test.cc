// ops/reference: router, experts' gates and sums, and RoPE that depends on the length, against float64.
// Thread rule: one thread. Flow: calls the plugin's table as the host does.
#include "op_case.h"

using namespace mortise_test;

namespace {

/// The definition of mortise.router/1, by sorting.
std::vector<double> routed(const std::vector<double>& logits, size_t top_k, bool before, bool renormalize,
                           double scale) {
  std::vector<size_t> order(logits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  std::sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(top_k));
  double all = 0, chosen = 0;
  for (double l : logits) all += std::exp(l);
  for (size_t i = 0; i < top_k; ++i) chosen += std::exp(logits[order[i]]);
  std::vector<double> out(2 * top_k);
  for (size_t i = 0; i < top_k; ++i) {
    out[i] = static_cast<double>(order[i]);
    out[top_k + i] = scale * std::exp(logits[order[i]]) / (before && !renormalize ? all : chosen);
  }
  return out;
}

Use router_use(uint64_t experts, uint64_t top_k, bool before, bool renormalize, double scale) {
  Use use{"mortise.router/1",
          {experts},
          {whole("top_k", static_cast<int64_t>(top_k)), text("softmax", before ? "before" : "after"),
           whole("renormalize", renormalize)},
          {}};
  if (scale != 1) use.attrs.push_back(real("scale", scale));
  return use;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double swiglu(double g, double u) {
  g = std::min(g, 7.0);
  return g * sigmoid(1.702f * g) * (std::clamp(u, -7.0, 7.0) + 1);
}

Case pairs(uint64_t n, const Use& use, double (*f)(double, double)) {
  return {"pairs",
          use,
          5.0f,
          [=](const Rows& in, Where) {
            std::vector<double> out;
            for (uint64_t i = 0; i < n; ++i) out.push_back(f(in[0][2 * i], in[0][2 * i + 1]));
            return out;
          },
          2e-6,
          2e-6};
}

Case combine(uint64_t parts, uint64_t n) {
  return {"moe_combine",
          {"mortise.moe_combine/1", {parts * n, 2 * parts}, {}, {}},
          1.0f,
          [=](const Rows& in, Where) {
            std::vector<double> out(n);
            for (uint64_t p = 0; p < parts; ++p)
              for (uint64_t i = 0; i < n; ++i) out[i] += in[1][parts + p] * in[0][p * n + i];
            return out;
          },
          1e-6,
          2e-6};
}

const std::vector<double> kNear = {1.0, 0.3, 0.09, 0.027}, kFar = {0.5, 0.1, 0.02, 0.004};

Case table(const Use& use, const std::function<double(size_t i, uint32_t length)>& frequency) {
  return {"rope_table",
          use,
          1.0f,
          [=](const Rows&, Where at) {
            std::vector<double> out(2 * kNear.size());
            for (size_t i = 0; i < kNear.size(); ++i) {
              out[i] = std::cos(at.position * frequency(i, at.length));
              out[i + kNear.size()] = std::sin(at.position * frequency(i, at.length));
            }
            return out;
          },
          1e-7,
          1e-7};
}

}  // namespace

TEST_CASE("ops reference routes as its definition says", "[ops]") {
  INFO("MORTISE_SEED=" << seed());
  Random random(11);
  for (const auto& [experts, top_k] :
       std::vector<std::pair<uint64_t, uint64_t>>{{1, 1}, {3, 1}, {8, 2}, {17, 17}, {60, 4}, {128, 8}})
    for (const bool before : {false, true})
      for (const bool renormalize : {false, true})
        for (const double scale : {1.0, 2.5}) {
          const size_t k = top_k;
          const Case c{
              "router", router_use(experts, top_k, before, renormalize, scale),
              2.0f,     [=](const Rows& in, Where) { return routed(in[0], k, before, renormalize, scale); },
              1e-6,     1e-30};
          check_case(c, random);
        }
}

TEST_CASE("ops reference routes ties to the lower number, and NaN and infinity somewhere", "[ops]") {
  auto plugin = instance({});
  const auto run = [&](const std::vector<float>& logits, uint64_t top_k) {
    return run_op(kTable, &plugin, router_use(logits.size(), top_k, true, true, 1), {logits}, 1);
  };
  const auto tied = run({2, 5, 2, 5, 2}, 3);
  CHECK((tied[0] == 0 && tied[1] == 1 && tied[2] == 3 && tied[4] == tied[5] && tied[3] < tied[4]));
  CHECK(run({0, 0, -0.0f, 0}, 2) == std::vector<float>{0, 1, 0.5f, 0.5f});
  const auto damaged = run({1, NAN, 3, 2, NAN}, 3);
  CHECK((damaged[0] == 1 && damaged[1] == 2 && damaged[2] == 4));
  for (size_t i = 3; i < 6; ++i) CHECK(std::isnan(damaged[i]));
  const auto nothing = run({-INFINITY, -INFINITY, -INFINITY}, 2);
  CHECK((nothing[0] == 0 && nothing[1] == 1));
  const auto endless = run({1, INFINITY, 2}, 2);
  CHECK((endless[0] == 1 && endless[1] == 2));
}

TEST_CASE("ops reference gates pairs and clamps as its definition says", "[ops]") {
  FlushToZero flush;
  INFO("MORTISE_SEED=" << seed());
  const mortise_attr clamped[] = {text("kind", "swiglu_clamped"), real("alpha", 1.702), real("limit", 7)};
  for (const uint64_t n : {1, 3, 16, 17, 37, 64, 720}) {
    Random random(n);
    const std::vector<mortise_attr> attrs(clamped, clamped + 3);
    check_case(pairs(n, {"mortise.act_mul/1", {2 * n}, attrs, {}}, swiglu), random);
    check_case(pairs(n, {"mortise.act_mul/1", {2 * n}, {text("kind", "silu")}, {}},
                     [](double g, double u) { return g * sigmoid(g) * u; }),
               random);
    check_case(elementwise("clamped", {"mortise.act_mul/1", {n, n}, attrs, {}}, 5, 2e-6, 2e-6, swiglu),
               random);
    check_case(elementwise("sigmoid", {"mortise.mul/1", {n, n}, {whole("sigmoid_b", 1)}, {}}, 3, 1e-6, 1e-9,
                           [](double a, double b) { return a * sigmoid(b); }),
               random);
    for (const bool is_sigmoid : {false, true}) {
      Use use{"mortise.mul/1", {n, 1}, {}, {}};
      if (is_sigmoid) use.attrs.push_back(whole("sigmoid_b", 1));
      check_case({"column", use, 2.0f,
                  [=](const Rows& in, Where) {
                    std::vector<double> out;
                    for (double a : in[0]) out.push_back(a * (is_sigmoid ? sigmoid(in[1][0]) : in[1][0]));
                    return out;
                  },
                  1e-6, 1e-9},
                 random);
    }
    for (const uint64_t parts : {1, 2, 5}) check_case(combine(parts, n), random);
  }
  auto plugin = instance({});
  const std::vector<float> wild = {NAN, 1, 1, NAN, INFINITY, INFINITY, -INFINITY, 2};
  const auto y = run_op(kTable, &plugin, {"mortise.act_mul/1", {8}, {clamped, clamped + 3}, {}}, {wild}, 1);
  CHECK((std::isnan(y[0]) && std::isnan(y[1]) && std::fabs(y[2] - 56) < 0.01f));
}

TEST_CASE("ops reference turns by the length that a sequence was admitted for", "[ops]") {
  INFO("MORTISE_SEED=" << seed());
  Random random(12);
  const mortise_attr near = list("inverse_frequencies", kNear), from = whole("long_from", 3000);
  check_case(table({"mortise.rope_table/1", {}, {near, list("long_inverse_frequencies", kFar), from}, {}},
                   [](size_t i, uint32_t length) { return length > 3000 ? kFar[i] : kNear[i]; }),
             random);
  const double f = 4;
  const auto dynamic = [&](size_t i, uint32_t length) {
    if (length <= 3000) return kNear[i];
    const double s = std::pow(f * length / 3000 - f + 1, 8.0 / 6.0);
    return kNear[i] * std::pow(s, -2.0 * static_cast<double>(i) / 8.0);
  };
  check_case(table({"mortise.rope_table/1", {}, {near, real("dynamic_factor", f), from}, {}}, dynamic),
             random);
}
