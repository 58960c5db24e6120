// Running the tests and printing what they gave.
// Thread rule: see bench.h. Flow: see bench.h.
#include "bench.h"

#include <algorithm>
#include <cstdio>

#include "json/json.h"
#include "measure.h"

namespace mortise::bench {
namespace {

std::string json_line(const Spec& spec, const Round& round) {
  std::string line;
  json::Writer writer(&line);
  writer.open('{').key("test").string(spec.name).key("tokens").number(round.tokens);
  writer.key("seconds").number(round.seconds).key("tokens_per_s");
  writer.number(static_cast<double>(round.tokens) / round.seconds).close('}');
  return line + "\n";
}

mortise_engine_stats stats_of(const mortise_engine* engine) {
  mortise_engine_stats stats{};
  stats.size = sizeof(stats);
  engine->stats(engine->ctx, &stats);
  return stats;
}

constexpr char kTableHead[] =
    "test                    tokens  median t/s    best t/s  ms a step  outside plugins\n";

/// `before` and `after`: the engine's figures around all rounds of the test.
std::string table_line(const Spec& spec, std::vector<Round> rounds, const mortise_engine_stats& before,
                       const mortise_engine_stats& after) {
  std::sort(rounds.begin(), rounds.end(),
            [](const Round& a, const Round& b) { return a.seconds < b.seconds; });
  const auto speed = [](const Round& round) { return static_cast<double>(round.tokens) / round.seconds; };
  const auto steps = static_cast<double>(std::max<uint64_t>(after.steps - before.steps, 1));
  char line[256];
  std::snprintf(line, sizeof(line), "%-20s %9llu %11.1f %11.1f %10.2f %13.0f us\n", spec.name.c_str(),
                static_cast<unsigned long long>(rounds.front().tokens), speed(rounds[rounds.size() / 2]),
                speed(rounds.front()), static_cast<double>(after.step_ns - before.step_ns) / steps / 1e6,
                static_cast<double>(after.host_ns - before.host_ns) / steps / 1e3);
  return line;
}

Result<void> run_test(Bench& bench, const mortise_engine* engine, const Spec& spec, const Options& options,
                      int out) {
  MORTISE_CHECK(bench.warm_up(spec));
  const mortise_engine_stats before = stats_of(engine);
  std::vector<Round> rounds;
  for (int64_t i = 0; i < options.rounds; ++i) {
    MORTISE_TRY(round, bench.measure(spec));
    rounds.push_back(round);
    if (options.jsonl) MORTISE_CHECK(client::write_all(out, json_line(spec, round)));
  }
  return options.jsonl ? Result<void>()
                       : client::write_all(out, table_line(spec, rounds, before, stats_of(engine)));
}

}  // namespace

Result<void> run_bench(const mortise_services& services, const Options& options,
                       const client::Control& control, int out,
                       const std::function<void(const std::string&)>& warn) {
  MORTISE_TRY(channel, client::Channel::open(services.engine));
  Bench bench(*channel, services.engine, control);
  std::vector<Spec> specs;
  for (const std::string& name : options.tests) {
    MORTISE_TRY(spec, parse_spec(name));
    MORTISE_CHECK(bench.check(spec));
    specs.push_back(spec);
  }
  if (!options.jsonl) MORTISE_CHECK(client::write_all(out, kTableHead));
  for (const Spec& spec : specs) {
    const uint64_t before = stats_of(services.engine).preemptions;
    MORTISE_CHECK(run_test(bench, services.engine, spec, options, out));
    if (stats_of(services.engine).preemptions != before)
      warn("'" + spec.name + "' ran out of KV memory and computed some tokens twice; raise kv.memory");
  }
  return {};
}

}  // namespace mortise::bench
