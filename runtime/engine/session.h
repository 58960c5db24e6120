// A pipeline in use: everything from files to front ends, made in order and taken down in the reverse one.
// Thread rule: the loading thread makes it; front ends then run on threads of their own. Flow: run_pipeline
// and explain_pipeline are what the commands call.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <vector>

#include "config/pipeline.h"
#include "host/log.h"

namespace mortise {

struct RunOptions {
  std::vector<std::string> plugin_folders;  // --plugins
  std::vector<std::string> arguments;       // behind the pipeline, for the front ends
  uint64_t started_ns = 0;                  // when the program began
};

/// Loads the pipeline and runs its front ends until all have returned. SIGINT and SIGTERM end the program
/// while it loads and are the front ends' from then on. Errors: of loading, or the first one of a front end.
Result<void> run_pipeline(const Pipeline& pipeline, const RunOptions& options, Log& log);

/// What run_pipeline would load, from headers alone, as JSON or for people.
Result<std::string> explain_pipeline(const Pipeline& pipeline, const RunOptions& options, bool as_json,
                                     Log& log);

/// Help lines for the parameters of the plugins that the pipeline names.
Result<std::string> pipeline_help(const Pipeline& pipeline, const RunOptions& options, Log& log);

}  // namespace mortise
