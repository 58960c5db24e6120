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

std::string table_line(const Spec& spec, std::vector<Round> rounds) {
  std::sort(rounds.begin(), rounds.end(),
            [](const Round& a, const Round& b) { return a.seconds < b.seconds; });
  const auto speed = [](const Round& round) { return static_cast<double>(round.tokens) / round.seconds; };
  char line[256];
  std::snprintf(line, sizeof(line), "%-20s %9llu %11.1f %11.1f\n", spec.name.c_str(),
                static_cast<unsigned long long>(rounds.front().tokens), speed(rounds[rounds.size() / 2]),
                speed(rounds.front()));
  return line;
}

uint64_t preemptions(const mortise_engine* engine) {
  mortise_engine_stats stats{};
  stats.size = sizeof(stats);
  engine->stats(engine->ctx, &stats);
  return stats.preemptions;
}

Result<void> run_test(Bench& bench, const Spec& spec, const Options& options, int out) {
  MORTISE_CHECK(bench.warm_up(spec));
  std::vector<Round> rounds;
  for (int64_t i = 0; i < options.rounds; ++i) {
    MORTISE_TRY(round, bench.measure(spec));
    rounds.push_back(round);
    if (options.jsonl) MORTISE_CHECK(client::write_all(out, json_line(spec, round)));
  }
  return options.jsonl ? Result<void>() : client::write_all(out, table_line(spec, rounds));
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
  if (!options.jsonl)
    MORTISE_CHECK(client::write_all(out, "test                    tokens  median t/s    best t/s\n"));
  for (const Spec& spec : specs) {
    const uint64_t before = preemptions(services.engine);
    MORTISE_CHECK(run_test(bench, spec, options, out));
    if (preemptions(services.engine) != before)
      warn("'" + spec.name + "' ran out of KV memory and computed some tokens twice; raise kv.memory");
  }
  return {};
}

}  // namespace mortise::bench
