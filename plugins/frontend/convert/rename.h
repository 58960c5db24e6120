// Recipes for all tensors of a model in the other dialect.
// Thread rule: the front end's thread. Flow: used by the plans that change the dialect; names and what
// families store otherwise come from the table of families.
#pragma once
#include "families/hyperparams.h"
#include "plan.h"

namespace mortise::convert {

/// Adds a recipe for each tensor of the model in the dialect that it does not speak; errors name a tensor
/// that its family does not know there.
Result<void> rename_tensors(const mortise_model_service& service, const families::Hyperparams& h,
                            const Options& options, Plan* out);

/// All values of a small tensor.
Result<std::vector<float>> values_of(const mortise_model_service& service, const mortise_tensor& tensor);

}  // namespace mortise::convert
