// The bench front end against an engine with a clock of its own: figures to the letter.
// Thread rule: the bench runs on a thread of its own. Flow: options in, lines out.
#include "bench.h"

#include <catch2/catch.hpp>

#include "measure.h"
#include "plugins/frontend/session.h"
#include "spec.h"

using namespace mortise;

namespace {

/// An engine that takes 1 ms a prompt token and 10 ms a step.
std::vector<fake::Event> timed(const fake::Request& request) {
  const std::string key = "\"max_tokens\":";
  const auto steps = std::stoull(request.parameters.substr(request.parameters.find(key) + key.size()));
  fake::Event end = fake::done(MORTISE_FINISH_LENGTH);
  end.completion_tokens = steps;
  end.submitted_ns = 5'000'000'000;
  end.first_token_ns = end.submitted_ns + request.prompt.size() * 1'000'000;
  end.finished_ns = end.first_token_ns + (steps - 1) * 10'000'000;
  return {fake::delta("a", {97}), end};
}

struct BenchSession : fake::Session {
  std::vector<std::string> warnings;
  BenchSession() { engine.script = timed; }
  void start(const bench::Options& options) {
    Session::start([this, options](const mortise_services& services, client::Control& control, int, int out) {
      return bench::run_bench(services, options, control, out,
                              [this](const std::string& line) { warnings.push_back(line); });
    });
  }
};

}  // namespace

TEST_CASE("bench: names of tests") {
  const auto spec = bench::parse_spec("decode:64+4096@8");
  REQUIRE(spec);
  CHECK((spec->kind == bench::Spec::Kind::decode && spec->tokens == 64 && spec->depth == 4096 &&
         spec->sequences == 8));
  CHECK(bench::parse_spec("prefill:512")->tokens == 512);
  CHECK(bench::parse_spec("prefill:512+32")->depth == 32);
  CHECK(bench::parse_spec("decode:1")->sequences == 1);
  for (const char* bad :
       {"", "decode", "decode:", "decode:0", "decode:-1", "decode:64@", "decode:64@8+4", "prefill:5@2",
        "decode:64x", "decode:99999999999999999999", "decode:1@5000", "serve:1x2/3", "decode: 64"}) {
    const auto refused = bench::parse_spec(bad);
    INFO(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().where == "plugin.bench.tests");
  }
}

TEST_CASE("bench: a JSON line per test and round, from the engine's stamps") {
  BenchSession session;
  session.start({{"prefill:100", "prefill:100+50", "decode:64", "decode:8+40@3"}, 2, true});
  for (int round = 0; round < 2; ++round)
    CHECK(session.hear() == R"({"test":"prefill:100","tokens":100,"seconds":0.1,"tokens_per_s":1000})");
  for (int round = 0; round < 2; ++round)
    CHECK(session.hear() == R"({"test":"prefill:100+50","tokens":100,"seconds":0.1,"tokens_per_s":1000})");
  for (int round = 0; round < 2; ++round)
    CHECK(session.hear() == R"({"test":"decode:64","tokens":64,"seconds":0.64,"tokens_per_s":100})");
  for (int round = 0; round < 2; ++round)
    CHECK(session.hear() == R"({"test":"decode:8+40@3","tokens":24,"seconds":0.08,"tokens_per_s":300})");
  CHECK(session.finish());
  CHECK(session.rest() == "");
  for (const fake::Request& request : session.engine.wait_for(1)) {
    CHECK((request.flags & MORTISE_REQUEST_NO_CACHE) != 0);
    CHECK(request.parameters.find("\"ignore_eos\":true") != std::string::npos);
    for (const uint32_t token : request.prompt) CHECK(token < session.engine.vocab);
  }
  CHECK_FALSE(session.engine.channel_open());
}

TEST_CASE("bench: the sequences beside the last one run on until it is done, then are cancelled") {
  BenchSession session;
  session.engine.hold = true;
  session.engine.max_batch_tokens = 20;
  session.start({{"decode:4+10@3"}, 1, true});
  const auto warm = session.engine.wait_for(3);  // depth left out: 1 token, 4 steps
  for (const auto& request : warm) CHECK(request.prompt.size() == 1);
  session.engine.release(3);
  const auto all = session.engine.wait_for(6);
  REQUIRE(all.size() == 6);
  CHECK(session.engine.cancelled() == std::set<uint64_t>{1, 2});
  CHECK(all[5].parameters.find("\"max_tokens\":5,") != std::string::npos);
  // 3 prompts of 10 tokens at 17 free places a step: ahead by 2 steps at most, and a step per sequence to
  // begin.
  CHECK(all[3].parameters.find("\"max_tokens\":10,") != std::string::npos);
  session.engine.release(6);
  CHECK(session.hear().find("\"tokens\":12,") != std::string::npos);
  CHECK(session.finish());
  CHECK(session.engine.cancelled() == std::set<uint64_t>{1, 2, 4, 5});
}

TEST_CASE("bench: a table for people") {
  BenchSession session;
  session.start({{"decode:64"}, 3, false});
  CHECK(session.hear() ==
        "test                    tokens  median t/s    best t/s  ms a step  outside plugins");
  CHECK(session.hear() ==
        "decode:64                   64       100.0       100.0       0.00             0 us");
  CHECK(session.finish());
}

TEST_CASE("bench: what does not fit is refused before anything runs") {
  const auto error = [](const std::string& test) {
    BenchSession session;
    session.start({{"prefill:8", test}, 1, true});
    const auto done = session.finish();
    REQUIRE_FALSE(done);
    CHECK(session.rest() == "");
    return done.error().text();
  };
  CHECK(error("decode:64@33") ==
        "plugin.bench.tests: 'decode:64@33' runs 33 sequences at once, the pipeline 32; raise "
        "engine.max_sequences");
  CHECK(error("decode:64+4096") ==
        "plugin.bench.tests: 'decode:64+4096' needs a context of 4162 tokens, the pipeline has 4096; "
        "raise model.context");
  CHECK(error("nonsense").find("'nonsense' is no test") != std::string::npos);
}

TEST_CASE("bench: an interrupt and a failing request end it with an error") {
  BenchSession session;
  session.engine.hold = true;
  session.start({{"prefill:8"}, 1, true});
  session.engine.wait_for(1);
  session.control.stop();
  const auto done = session.finish();
  REQUIRE_FALSE(done);
  CHECK(done.error().code == Code::cancelled);

  BenchSession failing;
  failing.engine.script = [](const fake::Request&) {
    fake::Event event;
    event.type = MORTISE_EVENT_ERROR;
    event.error_code = MORTISE_NO_MEMORY;
    event.error_message = "no room";
    return std::vector{event};
  };
  failing.start({{"prefill:8"}, 1, true});
  const auto failed = failing.finish();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().text() == "no room");
}
