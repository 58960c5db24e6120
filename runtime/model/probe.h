// The probe at load: every chosen (format, kernel) runs on real rows and is compared with the format's
// decoder. Thread rule: the loading thread. Flow: after the choice and before packing; a kernel that fails is
// dropped and the next candidate takes its place, a pinned one ends the start.
#pragma once
#include <mortise/cpp/result.h>

#include <string>

#include "model/chooser.h"
#include "model/open_model.h"
#include "model/weights.h"

namespace mortise {

/// Empty where every output is within the claim's declared error, for one row of x and for several; else what
/// differs. Reads at most a few dozen rows of the weight. Errors: the tensor's data is not there.
Result<std::string> probe_weight(const Weight& weight, const OpenModel& model);

/// Probes each pair of format and kernel once. Drops those that fail from `chooser`, with a warning in `log`;
/// true where any was dropped, so that the choice must be made again. A pinned kernel that fails is an error.
Result<bool> probe_weights(const Weights& weights, const OpenModel& model, Chooser* chooser, Log* log);

}  // namespace mortise
