// The perplexity front end against a second model, with logits that the test makes.
// Thread rule: single-threaded. Flow: a text through two engines, figures and verdict out.
#include "compare.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "plugins/frontend/fake_score.h"
#include "plugins/frontend/fake_text.h"

using namespace mortise;

namespace {

/// A model and a reference; open gives the second one.
struct Pair {
  fake::ScoringEngine engine, other;
  fake::Text text, other_text;
  mortise_services services{}, second{};
  client::Control control;
  bool is_open = false;

  Pair() {
    services.size = second.size = sizeof(services);
    services.text = text.get();
    services.engine = engine.get();
    second.text = other_text.get();
    second.engine = other.get();
    engine.logits = [](const std::vector<uint32_t>& tokens, size_t at) { return logits(tokens, at, 1.0); };
    other.logits = [](const std::vector<uint32_t>& tokens, size_t at) { return logits(tokens, at, 1.5); };
    other.chunk = 5;  // out of step with the first
    services.ctx = this;
    services.open = [](void* ctx, mortise_str, const mortise_services** opened, mortise_error*) {
      static_cast<Pair*>(ctx)->is_open = true;
      *opened = &static_cast<Pair*>(ctx)->second;
      return mortise_status{MORTISE_OK};
    };
    services.close = [](void* ctx, const mortise_services*) { static_cast<Pair*>(ctx)->is_open = false; };
  }

  static std::vector<float> logits(const std::vector<uint32_t>& tokens, size_t at, double scale) {
    std::vector<float> out(300);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>(scale * std::sin(double(i * 37 + tokens[at] * 11 + at)));
    return out;
  }
  Result<perplexity::Comparison> compare(std::string_view words, const perplexity::Options& options) {
    return perplexity::compare(services, words, options, control);
  }
};

perplexity::Options options(int64_t window, double max_increase = 0.15) {
  return {window, 0, true, "other.bin", max_increase};
}

/// log softmax in the plain way.
std::vector<double> log_softmax(const std::vector<float>& logits) {
  double sum = 0;
  for (float value : logits) sum += std::exp(double(value));
  std::vector<double> out;
  for (float value : logits) out.push_back(double(value) - std::log(sum));
  return out;
}

perplexity::Comparison with_increase(double first, double second) {
  perplexity::Comparison out{"small.bin", "big.bin", 8, {}};
  for (const auto& [end, name, rise] :
       {std::tuple{512, "to 512", first}, std::tuple{2048, "to 2k", second}}) {
    out.ranges.push_back({static_cast<uint64_t>(end), name, {}});
    out.ranges.back().figures.add({std::log(10 + rise), std::log(10.0), 0.5, true});
  }
  return out;
}

}  // namespace

TEST_CASE("perplexity against: the figures of plain sums") {
  Pair pair;
  const std::string words = "the quick brown fox jumps over it";
  const auto result = pair.compare(words, options(8));
  REQUIRE(result);
  double nll = 0, nll_against = 0, kl = 0;
  uint64_t scored = 0, same = 0;
  for (size_t at = 0; at < words.size(); at += 8) {
    const std::vector<uint32_t> window(
        words.begin() + static_cast<ptrdiff_t>(at),
        words.begin() + static_cast<ptrdiff_t>(std::min(at + 8, words.size())));
    for (size_t i = 0; i + 1 < window.size(); ++i, ++scored) {
      const auto q = log_softmax(Pair::logits(window, i, 1.0)), p = log_softmax(Pair::logits(window, i, 1.5));
      nll -= q[window[i + 1]];
      nll_against -= p[window[i + 1]];
      for (size_t t = 0; t < p.size(); ++t) kl += std::exp(p[t]) * (p[t] - q[t]);
      same += std::max_element(q.begin(), q.end()) - q.begin() ==
              std::max_element(p.begin(), p.end()) - p.begin();
    }
  }
  const perplexity::Figures all = result->all();
  CHECK(result->tokens == 32);  // the 33rd stands alone
  CHECK(all.tokens == scored);
  CHECK(all.nll_sum == Approx(nll).epsilon(1e-12));
  CHECK(all.nll_against_sum == Approx(nll_against).epsilon(1e-12));
  CHECK(all.kl_mean() == Approx(kl / double(scored)).epsilon(1e-12));
  CHECK(all.same_top == same);
  CHECK(pair.engine.open + pair.other.open == 0);
  CHECK(!pair.is_open);
}

TEST_CASE("perplexity against: positions count in the range that they lie in") {
  Pair pair;
  const auto result = pair.compare(std::string(2060, 'a'), options(2055));
  REQUIRE(result);
  REQUIRE(result->ranges.size() == 3);
  CHECK(result->ranges[0].figures.tokens == 511 + 4);  // of both windows
  CHECK(result->ranges[1].figures.tokens == 2048 - 512);
  CHECK(result->ranges[2].figures.tokens == 2055 - 2048);
}

TEST_CASE("perplexity against: a model and itself differ in nothing") {
  Pair pair;
  pair.other.logits = pair.engine.logits;
  const auto result = pair.compare("to be or not to be", options(16, 0));
  REQUIRE(result);
  const perplexity::Figures all = result->all();
  CHECK(all.increase() == 0);
  CHECK(all.kl_mean() == 0);
  CHECK(all.kl_p99() == 0);
  CHECK(all.top1_agreement() == 1);
  CHECK(perplexity::verdict(*result, options(16, 0)));
}

TEST_CASE("perplexity against: another vocabulary or other tokens are refused") {
  Pair pair;
  pair.other.vocab = 301;
  CHECK(pair.compare("abc", options(8)).error().message.find("301 tokens") != std::string::npos);
  pair.other.vocab = 300;
  pair.services.text = nullptr;
  CHECK(!pair.compare("abc", options(8)));
  CHECK(!pair.is_open);
}

TEST_CASE("perplexity against: a token that the reference rules out adds no divergence") {
  const float q[] = {0, 0, 0}, p[] = {0, 0, -INFINITY};
  const auto row = perplexity::compare_rows(q, p, 3, 0);
  CHECK(row.kl == Approx(std::log(3.0) - std::log(2.0)));
  CHECK(perplexity::compare_rows(p, q, 3, 0).kl == INFINITY);
}

TEST_CASE("perplexity against: the 99th percentile lies between its neighbours") {
  perplexity::Figures figures;
  for (int i = 0; i < 11; ++i) figures.add({0, 0, double(10 - i), false});
  CHECK(figures.kl_p99() == Approx(9.9));
}

TEST_CASE("perplexity against: the verdict names the range and what to switch to") {
  CHECK(perplexity::verdict(with_increase(0.1, 0.14), options(8)));
  const auto failed = perplexity::verdict(with_increase(0.1, 0.2), options(8));
  REQUIRE(!failed);
  CHECK(failed.error().text() ==
        "plugin.perplexity.max_increase: perplexity rises by more than 0.15 in the range of context to 2k "
        "(10.2000 against 10.0000, +0.2000); switch to big.bin, or to a scheme with more bits than small.bin "
        "has");
  CHECK(perplexity::verdict(with_increase(0.1, 0.2), options(8, 0.3)));
  CHECK(!perplexity::verdict(with_increase(NAN, 0), options(8, 0.3)));
}
