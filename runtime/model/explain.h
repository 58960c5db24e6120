// explain: what a pipeline would load, why, and what it takes, as JSON or for people.
// Thread rule: the loading thread. Flow: pipeline -> parts and model from headers alone -> text. Runs nothing.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <vector>

#include "config/pipeline.h"
#include "host/log.h"

namespace mortise {

/// The report. Errors are those that `run` would end with before it reads weights.
Result<std::string> explain_report(const Pipeline& pipeline, const std::vector<std::string>& plugin_folders,
                                   bool as_json, Log& log);

}  // namespace mortise
