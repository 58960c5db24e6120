// What `bench` prints: every test measured some rounds.
// Thread rule: the front end's thread. Flow: all tests are checked first, then each is warmed up and
// measured.
#pragma once
#include <mortise/frontend.h>

#include <functional>
#include <string>
#include <vector>

#include "client/streams.h"

namespace mortise::bench {

struct Options {
  std::vector<std::string> tests;
  int64_t rounds = 3;
  bool jsonl = false;  ///< a JSON line per test and round, else a table for people
};

/// Writes to `out`; `warn` hears what makes a figure doubtful.
Result<void> run_bench(const mortise_services& services, const Options& options,
                       const client::Control& control, int out,
                       const std::function<void(const std::string&)>& warn);

}  // namespace mortise::bench
