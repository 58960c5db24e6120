// Tests of answer text: stop strings against a plain search over the whole text. Thread rule:
// single-threaded. Flow: CTest -> AnswerText.
#include "engine/answer_text.h"

#include <catch2/catch.hpp>
#include <random>

using mortise::AnswerText;

namespace {

struct Outcome {
  std::string text;
  uint32_t tokens = 0;
  bool is_stopped = false;
  uint32_t fed = 0;
};

Outcome play(const std::vector<std::string>& stops, const std::vector<std::string>& tokens) {
  AnswerText answer(stops);
  Outcome out;
  const auto take = [&] {
    const AnswerText::Part part = answer.take();
    out.text += part.text;
    out.tokens += part.tokens;
  };
  for (const std::string& token : tokens) {
    ++out.fed;
    out.is_stopped = answer.add(token);
    take();
    if (out.is_stopped) return out;
  }
  out.is_stopped = answer.finish();
  take();
  return out;
}

/// Where the earliest match of any stop string begins, or npos.
size_t earliest(const std::string& text, const std::vector<std::string>& stops) {
  size_t out = std::string::npos;
  for (const std::string& stop : stops) out = std::min(out, text.find(stop));
  return out;
}

}  // namespace

TEST_CASE("answer text: characters come whole and tokens with them") {
  AnswerText answer({});
  answer.add("\xf0\x9f");
  CHECK(answer.take().tokens == 0);
  answer.add("\x98\x80");
  const AnswerText::Part part = answer.take();
  CHECK(part.text == "\xf0\x9f\x98\x80");
  CHECK(part.tokens == 2);
}

TEST_CASE("answer text: an incomplete character at the end becomes U+FFFD") {
  const Outcome out = play({}, {"a", "\xe2\x82"});
  CHECK(out.text == "a\xef\xbf\xbd");
  CHECK(out.tokens == 2);
}

TEST_CASE("answer text: a match waits while an earlier beginning is open") {
  CHECK(play({"abcd", "bc"}, {"ab", "c", "x"}).text == "a");
  CHECK(play({"abcd", "bc"}, {"ab", "c", "d"}).text.empty());
  CHECK(play({"abcd", "bc"}, {"ab", "c"}).text == "a");  // decided by the end
}

TEST_CASE("answer text: random texts agree with a plain search") {
  const uint32_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 rng(seed);
  for (int round = 0; round < 20000; ++round) {
    const auto word = [&](size_t most) {
      std::string out;
      for (size_t n = 1 + rng() % most; n > 0; --n) out += static_cast<char>('a' + rng() % 2);
      return out;
    };
    std::vector<std::string> stops, tokens;
    for (size_t n = rng() % 4; n > 0; --n) stops.push_back(word(5));
    std::string whole;
    for (size_t n = 1 + rng() % 8; n > 0; --n) tokens.push_back(word(4)), whole += tokens.back();
    const Outcome out = play(stops, tokens);
    const size_t at = earliest(whole, stops);
    INFO("text " << whole << " tokens " << tokens.size() << " stops " << stops.size());
    REQUIRE(out.is_stopped == (at != std::string::npos));
    REQUIRE(out.text == whole.substr(0, at));
    uint32_t expected = 0;
    for (size_t i = 0, begin = 0; i < tokens.size(); begin += tokens[i++].size())
      expected += begin < out.text.size();
    REQUIRE(out.tokens == expected);
  }
}
