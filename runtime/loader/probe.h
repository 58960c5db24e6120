// The probe: loads a plugin in a child process, so that a damaged one costs a line and never the host.
// Thread rule: [main], while the process has one thread (it forks). Flow: `mortise plugins` and `mortise
// check`.
#pragma once
#include <mortise/cpp/result.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "loader/catalog.h"

namespace mortise {

constexpr std::chrono::milliseconds kProbeTimeout{5000};
constexpr size_t kProbeReportBytesMax = 1 << 20;

/// What the child read from a part of the descriptor.
struct ProbedPart {
  std::string kind;
  std::string name;
  nlohmann::ordered_json parameters;  // as describe_params (config/params.h) gives them
};

/// Runs the file's constructors and entry point in a child process and reads its descriptor and parameters
/// there. The child's input and output are /dev/null; it leaves no core file. Errors: load_plugin's, and
/// where the child was ended by a signal, ended by itself, or took longer than `timeout`.
Result<std::vector<ProbedPart>> probe_plugin(const PluginFile& file, const HostOffer& offer,
                                             std::chrono::milliseconds timeout = kProbeTimeout);

}  // namespace mortise
