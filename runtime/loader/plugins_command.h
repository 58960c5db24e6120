// The commands `mortise plugins` and `mortise check`: what they report, as text.
// Thread rule: [main], while the process has one thread (both probe). Flow: main.cc -> catalog, probe ->
// text.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <vector>

namespace mortise {

/// Every plugin in reach, probed, and every refused file with the reason: a table for people, or the JSON of
/// `plugins --json`. Errors: a folder of `--plugins` that cannot be listed (bad_argument).
Result<std::string> plugins_report(const std::vector<std::string>& folders, bool json);

struct CheckReport {
  std::string text;
  bool passed = false;
};

/// The loader's checks of one file, in their order up to the first that fails.
CheckReport check_report(const std::string& path, bool json);

}  // namespace mortise
