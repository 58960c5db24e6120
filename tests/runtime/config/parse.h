// Helpers of the config tests: text in, Pipeline or the error's one line out.
// Thread rule: pure functions. Flow: included by the tests of runtime/config.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/pipeline.h"

namespace mortise {

/// Parses as file x.toml in folder /cfg.
inline Result<Pipeline> parse(std::string_view text, const std::vector<std::string>& sets = {},
                              std::optional<std::string> model = {}) {
  PipelineOptions options;
  options.sets = sets;
  options.model = std::move(model);
  return parse_pipeline(text, "x.toml", "/cfg", options);
}

inline std::string error_of(std::string_view text, const std::vector<std::string>& sets = {}) {
  const Result<Pipeline> parsed = parse(text, sets);
  return parsed ? "no error" : parsed.error().text();
}

inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace mortise
