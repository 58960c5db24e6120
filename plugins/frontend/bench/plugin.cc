// Front end "bench": tokens per second of prefill and decode.
// Thread rule: run on the front end's thread; drain and stop on the main one. Flow: all tests are checked
// first, then measured; a line per test and round, or a table for people.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <unistd.h>

#include "bench.h"
#include "client/frontend.h"
#include "spec.h"

namespace mortise::bench {
namespace {

#define BENCH_PARAMS(MORTISE_PARAM)                                                                   \
  MORTISE_PARAM(list, tests, "[\"prefill:512\", \"decode:64\", \"decode:64@8\", \"decode:64+4096\"]", \
                "[1,64]", config,                                                                     \
                "what to run: KIND:N[+D][@B], D tokens of context before, B sequences at once")       \
  MORTISE_PARAM(int, rounds, "3", "[1,1000]", config, "times each test is measured")                  \
  MORTISE_PARAM(choice, output, "\"human\"", "human|jsonl", config,                                   \
                "a table, or a JSON line per test and round")

MORTISE_PARAMS(BenchParams, BENCH_PARAMS);

class Frontend {
 public:
  Frontend(Host host, const BenchParams& params) : host_(host) {
    options_.rounds = params.rounds;
    options_.jsonl = params.output.value == "jsonl";
    for (size_t i = 0; i < params.tests.value.count; ++i) {
      const mortise_value& item = params.tests.value.items[i];
      options_.tests.emplace_back(item.type == MORTISE_STRING ? view(item.s) : "");
    }
  }

  Result<void> check() {
    for (const std::string& test : options_.tests) MORTISE_CHECK(parse_spec(test));
    return {};
  }

  Result<void> run(const mortise_services& services) {
    const auto warn = [this](const std::string& line) { host_.log(MORTISE_LOG_WARNING, line); };
    return run_bench(services, options_, control_, STDOUT_FILENO, warn);
  }
  uint32_t needs() const { return MORTISE_NEEDS_ENGINE; }
  client::Control& control() { return control_; }

 private:
  const Host host_;
  Options options_;
  client::Control control_;
};

constexpr mortise_frontend kTable = client::make_frontend<Frontend>();

constexpr mortise_part kPart = make_part<Frontend, BenchParams>(
    "frontend", "bench", MORTISE_FRONTEND_ID, "measures prefill and decode in tokens per second", &kTable);

}  // namespace
}  // namespace mortise::bench

MORTISE_PLUGIN("mortise.frontend.bench", "0.1.0", "Apache-2.0", MORTISE_FRONTEND_ID " " MORTISE_ENGINE_ID,
               "frontend:bench", "", &mortise::bench::kPart);
