// ops/reference: what infer refuses, and how it says so; the accuracy of exp, tanh and erfc.
// Thread rule: one thread. Flow: calls the plugin's table as the host does.
#include "ops.h"
#include "plugins/ops/op_test.h"

#include <mortise/cpp/lanes_math.h>

using namespace mortise_test;
using ops_reference::kTable;

namespace {

std::string refusal(const Use& use) {
  FakeHost host;
  ops_reference::Reference plugin(host.host(), {});
  uint64_t cols = 0;
  mortise_error error = mortise::c_error();
  use.described([&](const mortise_op_desc& desc) {
    CHECK(kTable.infer(&plugin, claim_of(kTable, &plugin, use.op), &desc, &cols, &error) ==
          MORTISE_BAD_ARGUMENT);
  });
  CHECK(std::string(error.where) == use.op);
  return error.message;
}

const std::vector<double> kNone;

}  // namespace

TEST_CASE("ops reference refuses uses that make no sense", "[ops]") {
  const std::vector<float> three(3, 1.0f);
  const std::vector<double> bad_frequency = {1.0, NAN};
  const std::vector<double> one = {1.0}, two = {1.0, 0.5};
  const mortise_attr near = list("inverse_frequencies", one), far = list("long_inverse_frequencies", one),
                     after = text("softmax", "after");
  const mortise_attr rms = whole("rms", 1), eps = real("eps", 1e-6);
  const std::vector<std::pair<Use, std::string>> uses = {
      {{"mortise.norm/1", {8}, {rms}, {}}, "'eps' is missing"},
      {{"mortise.norm/1", {8}, {eps}, {}}, "'rms' is missing"},
      {{"mortise.norm/1", {8}, {whole("rms", 2), eps}, {}}, "'rms' is 2, not in [0, 1]"},
      {{"mortise.norm/1", {8}, {rms, real("eps", -1)}, {}}, "'eps' is negative"},
      {{"mortise.norm/1", {8}, {rms, whole("eps", 1)}, {}}, "wrong type"},
      {{"mortise.norm/1", {8}, {rms, eps, whole("width", 3)}, {}}, "no multiple of width 3"},
      {{"mortise.norm/1", {8}, {rms, eps, whole("width", 0)}, {}}, "'width' is 0"},
      {{"mortise.norm/1", {8}, {rms, eps, real("epsilon", 1)}, {}}, "unknown attribute 'epsilon'"},
      {{"mortise.norm/1", {8}, {rms, eps}, {&three}}, "vector 0 has 3 numbers where the width is 8"},
      {{"mortise.norm/1", {8}, {rms, eps}, {nullptr, nullptr, nullptr}}, "has 3 vectors"},
      {{"mortise.norm/1", {0}, {rms, eps}, {}}, "0 columns"},
      {{"mortise.add/1", {8, 9}, {}, {}}, "8 and 9 columns"},
      {{"mortise.add/1", {8}, {}, {}}, "has 1 inputs where it takes 2"},
      {{"mortise.mul/1", {8, 8}, {real("c", 1)}, {}}, "unknown attribute 'c'"},
      {{"mortise.scale/1", {8}, {real("c", NAN)}, {}}, "not a finite number"},
      {{"mortise.softcap/1", {8}, {real("c", 0)}, {}}, "'c' is not positive"},
      {{"mortise.act/1", {8}, {text("kind", "swish")}, {}}, "'kind': 'swish' is unknown; known are silu"},
      {{"mortise.act_mul/1", {8, 8}, {text("kind", nullptr)}, {}}, "'kind': '' is unknown"},
      {{"mortise.rope_table/1", {}, {list("inverse_frequencies", kNone)}, {}}, "is empty"},
      {{"mortise.rope_table/1", {}, {list("inverse_frequencies", bad_frequency)}, {}}, "isn't finite"},
      {{"mortise.rope/1", {64, 16}, {whole("head_dim", 16), whole("dims", 15), whole("interleaved", 0)}, {}},
       "odd"},
      {{"mortise.rope/1", {64, 8}, {whole("head_dim", 16), whole("dims", 16), whole("interleaved", 0)}, {}},
       "table has 8 columns"},
      {{"mortise.rope/1", {60, 16}, {whole("head_dim", 16), whole("dims", 16), whole("interleaved", 0)}, {}},
       "no multiple of head_dim"},
      {{"mortise.rope/1", {64, 18}, {whole("head_dim", 16), whole("dims", 18), whole("interleaved", 0)}, {}},
       "'dims' is 18, not in [2, 16]"},
      {{"mortise.rope_table/1", {}, {near, whole("long_from", 8)}, {}}, "'long_from' goes with"},
      {{"mortise.rope_table/1", {}, {near, far}, {}}, "'long_from' goes with"},
      {{"mortise.rope_table/1", {}, {near, far, real("dynamic_factor", 2), whole("long_from", 8)}, {}},
       "'long_from' goes with"},
      {{"mortise.rope_table/1", {}, {near, list("long_inverse_frequencies", two), whole("long_from", 8)}, {}},
       "have other lengths"},
      {{"mortise.rope_table/1", {}, {near, far, whole("long_from", 0)}, {}}, "'long_from' is 0"},
      {{"mortise.rope_table/1", {}, {near, real("dynamic_factor", -1), whole("long_from", 8)}, {}},
       "negative"},
      {{"mortise.mul/1", {8, 2}, {}, {}}, "8 and 2 columns"},
      {{"mortise.mul/1", {8, 8}, {whole("sigmoid_b", 2)}, {}}, "'sigmoid_b' is 2"},
      {{"mortise.act_mul/1", {7}, {text("kind", "silu")}, {}}, "odd number of columns"},
      {{"mortise.act_mul/1", {8, 4}, {text("kind", "silu")}, {}}, "8 and 4 columns"},
      {{"mortise.act_mul/1", {8}, {text("kind", "swiglu_clamped")}, {}}, "'alpha' is missing"},
      {{"mortise.act_mul/1", {8}, {text("kind", "swiglu_clamped"), real("alpha", 1), real("limit", 0)}, {}},
       "'limit' is not positive"},
      {{"mortise.act_mul/1", {8}, {text("kind", "silu"), real("alpha", 1)}, {}}, "unknown attribute 'alpha'"},
      {{"mortise.act/1", {8}, {text("kind", "swiglu_clamped")}, {}}, "'swiglu_clamped' is unknown"},
      {{"mortise.router/1", {4}, {whole("top_k", 5), after, whole("renormalize", 0)}, {}},
       "'top_k' is 5, not in [1, 4]"},
      {{"mortise.router/1", {4}, {whole("top_k", 2), text("softmax", "never"), whole("renormalize", 0)}, {}},
       "'softmax': 'never' is unknown; known are before, after"},
      {{"mortise.router/1", {4}, {whole("top_k", 2), after}, {}}, "'renormalize' is missing"},
      {{"mortise.router/1", {65537}, {whole("top_k", 2), after, whole("renormalize", 0)}, {}},
       "65537 experts; at most 65536"},
      {{"mortise.moe_combine/1", {9, 4}, {}, {}}, "9 columns and a routing of 4"},
      {{"mortise.moe_combine/1", {9, 3}, {}, {}}, "9 columns and a routing of 3"},
      {{"mortise.moe_combine/1", {9, 0}, {}, {}}, "a routing of 0"}};
  for (const auto& [use, reason] : uses) {
    const std::string got = refusal(use);
    CAPTURE(use.op, got, reason);
    CHECK(got.find(reason) != std::string::npos);
  }
}

TEST_CASE("lanes math stays within its documented errors", "[ops]") {
  using namespace mortise::lanes;
  double exp_worst = 0, tanh_worst = 0, erfc_worst = 0;
  const auto ulps = [](float got, double exact) {
    const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    return std::fabs(got - exact) / unit;
  };
  for (double at = -90; at < 90; at += 0.0007) {
    const float x = static_cast<float>(at);
    float e[16], t[16], c[16];
    store(e, exp(all(x)));
    store(t, mortise::lanes::tanh(all(x / 8)));
    store(c, mortise::lanes::erfc(all(x / 30)));
    if (x > -87.3f && x < 88.7f)
      exp_worst = std::max(exp_worst, ulps(e[3], std::exp(static_cast<double>(x))));
    tanh_worst = std::max(tanh_worst, ulps(t[15], std::tanh(static_cast<double>(x / 8))));
    const double exact = std::erfc(static_cast<double>(x / 30));
    erfc_worst = std::max(erfc_worst, std::fabs(c[7] - exact) / exact);
  }
  CAPTURE(exp_worst, tanh_worst, erfc_worst);
  CHECK(exp_worst < 2);
  CHECK(tanh_worst < 3);
  CHECK(erfc_worst < 1e-6);
  float e[16];
  for (const float x : {88.73f, INFINITY}) {
    store(e, exp(all(x)));
    CHECK(e[0] == INFINITY);
  }
  for (const float x : {-87.34f, -INFINITY}) {
    store(e, exp(all(x)));
    CHECK(e[15] == 0.0f);
  }
  store(e, exp(all(NAN)));
  CHECK(std::isnan(e[0]));
  store(e, exp(all(0.0f)));
  CHECK(e[0] == 1.0f);
}
