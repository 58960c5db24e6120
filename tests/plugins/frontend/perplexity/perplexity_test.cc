// The perplexity front end against an engine whose scores are known.
// Thread rule: single-threaded. Flow: a text in, figures out.
#include "perplexity.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "plugins/frontend/session.h"

using namespace mortise;

namespace {

/// Scores a token t with -t/100 and tells it in two events, the second one the last.
std::vector<fake::Event> scored(const fake::Request& request) {
  fake::Event first, last = fake::done(MORTISE_FINISH_LENGTH);
  for (size_t i = 0; i < request.prompt.size(); ++i) {
    fake::Event& event = i < request.prompt.size() / 2 ? first : last;
    event.tokens.push_back(request.prompt[i]);
    event.logprobs.push_back({i == 0 ? NAN : -static_cast<float>(request.prompt[i]) / 100.0f, {}, {}});
  }
  return {first, last};
}

Result<perplexity::Score> measure(fake::Session& session, std::string_view text, int64_t window,
                                  int64_t tokens) {
  return perplexity::measure(session.services, text, {window, tokens, false}, session.control);
}

}  // namespace

TEST_CASE("perplexity: consecutive windows without BOS, the first token of each unscored") {
  fake::Session session;
  session.text.add_bos = true;
  session.engine.script = scored;
  const auto score = measure(session, "abcdefg<turn>", 4, 7);
  REQUIRE(score);
  CHECK(score->tokens == 7);
  CHECK(score->scored == 5);  // b c d, f g
  CHECK(score->nll_sum == Approx((98 + 99 + 100 + 102 + 103) / 100.0));
  const auto requests = session.engine.wait_for(2);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].prompt == std::vector<uint32_t>{97, 98, 99, 100});
  CHECK(requests[1].prompt == std::vector<uint32_t>{101, 102, 103});
  CHECK(requests[0].parameters == R"({"echo":true,"max_tokens":0,"top_logprobs":0})");
  CHECK((requests[0].flags & MORTISE_REQUEST_NO_CACHE) != 0);
}

TEST_CASE("perplexity: a tail of one token is left out, a text too short refused") {
  fake::Session session;
  session.engine.script = scored;
  const auto score = measure(session, "abcde", 4, 0);
  REQUIRE(score);
  CHECK(score->tokens == 4);
  CHECK(measure(session, "a", 4, 0).error().where == "plugin.perplexity.text");
  CHECK(measure(session, "abc", 5000, 0).error().where == "plugin.perplexity.window");
}

TEST_CASE("perplexity: what it prints") {
  const perplexity::Score score{8, 6, 6.0};
  CHECK(perplexity::report(score, {4, 0, true}) ==
        "{\"tokens\":8,\"mean_nll\":1,\"perplexity\":2.718281828459045}\n");
  CHECK(perplexity::report(score, {4, 0, false}) ==
        "perplexity 2.7183 (mean NLL 1.00000 nats) over 8 tokens in windows of 4\n");
}

TEST_CASE("perplexity: an engine that fails, or forgets a token, is an error") {
  fake::Session session;
  session.engine.script = [](const fake::Request& request) {
    auto events = scored(request);
    events[1].tokens.pop_back();
    events[1].logprobs.pop_back();
    return events;
  };
  CHECK(measure(session, "abcd", 4, 0).error().code == Code::internal);
  fake::Session failing;
  failing.engine.script = [](const fake::Request&) {
    fake::Event event;
    event.type = MORTISE_EVENT_ERROR;
    event.error_code = MORTISE_NO_MEMORY;
    return std::vector{event};
  };
  CHECK(measure(failing, "abcd", 4, 0).error().code == Code::no_memory);
}
