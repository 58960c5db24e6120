// Samplers on small rows whose results are known: the cases from public reports, ties, bans, odd logits.
// Thread rule: single-threaded. Flow: drives the built plugins through sampler_rig.h.
#include <cmath>
#include <limits>

#include "sampler_rig.h"

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const std::vector<float> kUnit = {2.0f, 1.0f, 0.5f, -1.0f, -2.0f};  // the logits of the cases
const std::vector<std::string> kAll = {"temperature", "top_k",     "top_p",     "min_p",
                                       "typical_p",   "penalties", "logit_bias"};

using Ids = std::vector<uint32_t>;

Ids kept(const SamplerRig& sampler, std::vector<float> logits) {
  SamplerRow row = SamplerRow::dense(std::move(logits));
  row.apply(sampler);
  return row.ids;
}

void same_logits(const std::vector<float>& got, const std::vector<float>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == Approx(want[i]).margin(1e-6));
}

// Every sampler with a setting that acts.
std::vector<SamplerRig> active() {
  std::vector<SamplerRig> all;
  all.push_back(SamplerRig("temperature").set("temperature", 0.7));
  all.push_back(SamplerRig("temperature").set("temperature", 0));
  all.push_back(SamplerRig("temperature").set("temperature", 1e-4));
  all.push_back(SamplerRig("top_k").set("top_k", 2));
  all.push_back(SamplerRig("top_p").set("top_p", 0.5));
  all.push_back(SamplerRig("top_p").set("top_p", 1e-9));
  all.push_back(SamplerRig("min_p").set("min_p", 0.3));
  all.push_back(SamplerRig("min_p").set("min_p", 1.0));
  all.push_back(SamplerRig("typical_p").set("typical_p", 0.5));
  all.push_back(SamplerRig("penalties").set("repetition_penalty", 1.5).set("presence_penalty", 2));
  all.push_back(SamplerRig("logit_bias"));
  all.back().set_map("logit_bias", {{"0", -100}, {"1", -100}, {"2", 100}});
  return all;
}

}  // namespace

TEST_CASE("sam-01: the repetition penalty divides positive logits and multiplies negative ones") {
  SamplerRig sampler("penalties");
  sampler.set("repetition_penalty", 1.5);
  SamplerRow row = SamplerRow::dense(kUnit);
  row.history = {0, 3, 3};  // in the prompt or generated, once or twice: all the same
  row.prompt_count = 2;
  row.apply(sampler);
  same_logits(row.logits, {1.3333333f, 1.0f, 0.5f, -1.5f, -2.0f});
}

TEST_CASE("sam-02: frequency and presence are subtracted and count the answer only") {
  SamplerRig sampler("penalties");
  sampler.set("frequency_penalty", 0.5).set("presence_penalty", 0.25);
  SamplerRow row = SamplerRow::dense(kUnit);
  row.history = {4, 4, 1, 0, 3, 0, 2, 0, 3};  // a prompt of 3, then counts 3 0 1 2 0
  row.prompt_count = 3;
  row.apply(sampler);
  same_logits(row.logits, {0.25f, 1.0f, -0.25f, -2.25f, -2.0f});

  SamplerRig negative("penalties");
  negative.set("presence_penalty", -2);
  SamplerRow liked = SamplerRow::dense(kUnit);
  liked.history = {4};
  liked.apply(negative);
  same_logits(liked.logits, {2.0f, 1.0f, 0.5f, -1.0f, 0.0f});
}

TEST_CASE("penalty_window counts the latest tokens only") {
  SamplerRig sampler("penalties");
  sampler.set("repetition_penalty", 2).set("frequency_penalty", 1).set("penalty_window", 2);
  SamplerRow row = SamplerRow::dense({4, 4, 4, 4});
  row.history = {0, 1, 2, 1};
  row.prompt_count = 3;
  row.apply(sampler);
  same_logits(row.logits, {4, 1, 2, 4});  // the window holds 2 (prompt) and 1 (generated)
}

TEST_CASE("a history token outside the vocabulary is passed over") {
  SamplerRig sampler("penalties");
  sampler.set("repetition_penalty", 2);
  SamplerRow row = SamplerRow::dense({4, 4});
  row.history = {1, 2, 0xffffffff};
  row.apply(sampler);
  same_logits(row.logits, {4, 2});
}

TEST_CASE("sam-04: top_p 0.5 keeps the one token that reaches it") {
  REQUIRE(kept(SamplerRig("top_p").set("top_p", 0.5), kUnit) == Ids{0});
  REQUIRE(kept(SamplerRig("top_p").set("top_p", 0.61), kUnit) == Ids{0, 1});  // p = 0.6027, 0.2217, ..
}

TEST_CASE("sam-07: logit_bias -100 bans one token and leaves the others alone") {
  SamplerRig sampler("logit_bias");
  sampler.set_map("logit_bias", {{"0", -100}, {"3", 2.5}});
  SamplerRow row = SamplerRow::dense({1e6f, 1, 0.5f, -1, -2});
  row.apply(sampler);
  REQUIRE(row.logits == std::vector<float>{-kInf, 1, 0.5f, 1.5f, -2});
}

TEST_CASE("logit_bias is checked against the vocabulary") {
  const auto error = [](const std::string& key, double bias) {
    return SamplerRig("logit_bias").set_map("logit_bias", {{key, bias}}).check(100);
  };
  REQUIRE(error("99", -100) == "");
  REQUIRE(error("0", 100) == "");
  for (const char* key : {"100", "-1", "", "x", "1x", " 1", "4294967296", "1.0"})
    REQUIRE_THAT(error(key, 1), Catch::Contains("is no token id; give ids from 0 to 99"));
  for (const double bias : {-100.5, 101.0, static_cast<double>(kNan)})
    REQUIRE_THAT(error("7", bias), Catch::Contains("the bias of token 7 must be a number from -100 to 100"));
}

TEST_CASE("sam-11: defaults change nothing, and top_k 0 and -1 are off") {
  for (const std::string& name : kAll) {
    INFO(name);
    SamplerRig sampler(name);
    REQUIRE(sampler.is_identity());
    REQUIRE(sampler.check(5) == "");
    SamplerRow row = SamplerRow::dense(kUnit);
    row.apply(sampler);  // also right where a host doesn't skip it
    REQUIRE(row.logits == kUnit);
  }
  REQUIRE(SamplerRig("top_k").set("top_k", -1).is_identity());
  for (const SamplerRig& sampler : active()) REQUIRE(!sampler.is_identity());
}

TEST_CASE("temperature 0 takes the largest, ties to the lower id") {
  const auto greedy = SamplerRig("temperature").set("temperature", 0);
  REQUIRE(kept(greedy, {1, 3, 2, 3}) == Ids{1});
  REQUIRE(kept(greedy, {-kInf, kNan, -5}) == Ids{2});
  SamplerRow compact = SamplerRow::dense({1, 7, 7});
  compact.ids = {4, 9, 11};
  compact.vocab = 12;
  compact.flags = 0;
  compact.apply(greedy);
  REQUIRE(compact.ids == Ids{9});
}

TEST_CASE("temperature divides") {
  SamplerRow row = SamplerRow::dense({1, -2, 0});
  row.apply(SamplerRig("temperature").set("temperature", 0.5));
  REQUIRE(row.logits == std::vector<float>{2, -4, 0});
}

TEST_CASE("ties at the border go to the lower id") {
  REQUIRE(kept(SamplerRig("top_k").set("top_k", 2), {1, 5, 5, 5}) == Ids{1, 2});
  REQUIRE(kept(SamplerRig("top_p").set("top_p", 0.5), {0, 0, 0, 0}) == Ids{0, 1});
  REQUIRE(kept(SamplerRig("typical_p").set("typical_p", 0.5), {0, 0, 0, 0}) == Ids{0, 1});
  REQUIRE(kept(SamplerRig("min_p").set("min_p", 1), {3, 5, 5, 1}) == Ids{1, 2});
}

TEST_CASE("typical_p prefers the typical token to the likeliest") {
  // p = 0.7, 0.2, 0.1: entropy 0.80, surprises 0.36, 1.61, 2.30; distances 0.45, 0.81, 1.50.
  const std::vector<float> row = {std::log(0.1f), std::log(0.7f), std::log(0.2f)};
  REQUIRE(kept(SamplerRig("typical_p").set("typical_p", 0.6), row) == Ids{1});
  // p = 0.3 and 70 of 0.01: entropy 3.58, so that a rare token (4.61) is nearer to it than the likely one
  // (1.20).
  std::vector<float> flat(71, std::log(0.01f));
  flat[70] = std::log(0.3f);
  const Ids rare = kept(SamplerRig("typical_p").set("typical_p", 0.255), flat);
  REQUIRE(rare.size() == 26);
  REQUIRE(rare.back() == 25);
}

TEST_CASE("rows of one call do not see each other") {
  for (const SamplerRig& sampler : active()) {
    std::vector<SamplerRow> alone = {SamplerRow::dense(kUnit), SamplerRow::dense({1, 7, 7}),
                                     SamplerRow::dense({-3, 0})};
    alone[0].history = {0, 1};
    std::vector<SamplerRow> together = alone;
    for (SamplerRow& row : alone) row.apply(sampler);
    SamplerRow::apply(sampler, {&together[0], &together[1], &together[2]});
    for (size_t i = 0; i < alone.size(); ++i) {
      REQUIRE(together[i].ids == alone[i].ids);
      REQUIRE(together[i].logits == alone[i].logits);
    }
  }
}

TEST_CASE("odd logits never remove every candidate and never leave a likelier one out") {
  const std::vector<std::vector<float>> rows = {{-kInf, -kInf, -kInf},
                                                {kNan, kNan, kNan},
                                                {kInf, kInf, 0},
                                                {kInf, -kInf, kNan},
                                                {3.4e38f, -3.4e38f, 0},
                                                {kNan, 1, -kInf},
                                                {0},
                                                {-kInf},
                                                {kNan},
                                                {1e-45f, -1e-45f, 0, -0.0f},
                                                {-3.4e38f, -3.4e38f},
                                                {kNan, -kInf, -3.4e38f}};
  for (const SamplerRig& sampler : active())
    for (const auto& logits : rows) {
      SamplerRow row = SamplerRow::dense(logits);
      row.history = {0, 1};
      row.apply(sampler);  // checks 1 <= count and the contract
    }
  REQUIRE(kept(SamplerRig("top_k").set("top_k", 1), {kNan, 1, kInf}) == Ids{2});
  REQUIRE(kept(SamplerRig("top_p").set("top_p", 0.9), {kNan, 1, -kInf}) == Ids{1});
  REQUIRE(kept(SamplerRig("min_p").set("min_p", 0.5), {kInf, 1, kInf}) == Ids{0, 2});
  REQUIRE(kept(SamplerRig("typical_p").set("typical_p", 0.9), {-kInf, 1, kNan}) == Ids{1});
}
