// The front ends of a pipeline: chosen, run on a thread each, drained and stopped by signals.
// Thread rule: run on the main thread. Flow: session -> here -> plugins' run; SIGINT and SIGTERM arrive here.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/frontend.h>

#include <vector>

#include "config/pipeline.h"
#include "model/parts.h"

namespace mortise {

constexpr uint32_t kDrainMs = 30000;  // what accepted requests get after the first signal

/// As [use] frontend names them, else the installed one that suits best where none is named.
Result<std::vector<const Provider*>> select_frontends(Parts& parts, const Pipeline& pipeline);

/// The most that any of them needs (MORTISE_NEEDS_*).
uint32_t frontend_needs(const std::vector<const Provider*>& frontends);

/// Lets each look whether it has all that it needs to run. Errors: the first one's.
Result<void> check_frontends(const std::vector<const Provider*>& frontends);

/// Runs all until each has returned. The first signal stops an answer or drains, the second ends the program
/// at once. A front end that fails drains the others; the error is the first.
Result<void> run_frontends(const std::vector<const Provider*>& frontends, const mortise_services& services);

}  // namespace mortise
