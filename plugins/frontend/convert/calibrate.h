// Calibration: a text through the engine, then scales for every group of weights that reads one norm's output
// or one projection's, folded into the plan's recipes. Thread rule: the front end's thread. Flow: between
// plan and pump, for AWQ with a calibration text.
#pragma once
#include <functional>
#include <optional>
#include <string_view>

#include "awq.h"
#include "pump.h"

namespace mortise::convert {

/// Statistics of the columns of a weight of the source, by its tensor's name and the number of the slice in
/// it; nothing where the text did not pass it (an expert that was never chosen).
using StatisticsOf =
    std::function<std::optional<ColumnStatistics>(std::string_view tensor, uint64_t slice, uint64_t columns)>;

/// Folds the best scales into the recipes of a hub plan with AWQ tensors; those that stay as they are for
/// want of statistics or of a tensor to take the inverse are left alone. `gain_less_one`: norms hold their
/// gain less 1. Returns the number of groups scaled.
Result<size_t> fold_scales(Host host, const mortise_model_service& model, uint64_t group, bool gain_less_one,
                           const StatisticsOf& statistics, std::vector<Recipe>* tensors);

}  // namespace mortise::convert
