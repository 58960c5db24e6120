// What a conversion will write: metadata or files, and a recipe per tensor.
// Thread rule: the front end's thread. Flow: model and target -> Plan -> (scales of a calibration) -> pump.
#pragma once
#include <mortise/cpp/model.h>

#include "pump.h"
#include "target.h"

namespace mortise::convert {

struct Options {
  const Target* target = nullptr;
  uint64_t group = 128;  ///< AWQ: columns that share a scale; 0: the whole row
};

/// Fills everything but `path`. Errors name what can't be carried over.
Result<void> make_plan(const mortise_model_service& service, const Options& options, Plan* out);

// The steps, by dialects (plan_*.cc).
Result<void> plan_gguf_to_gguf(const mortise_model& model, const Options& options, Plan* out);
Result<void> plan_hub_to_hub(const mortise_model& model, const Options& options, Plan* out);
Result<void> plan_hub_to_gguf(const mortise_model_service& service, const Options& options, Plan* out);
Result<void> plan_gguf_to_hub(const mortise_model_service& service, const Options& options, Plan* out);

/// What tensor `name` of either dialect is for.
Role role_of(std::string_view name, uint32_t rank);
/// A recipe that takes a tensor over as it is, but for name and format.
Recipe take_over(const mortise_tensor& tensor, std::string name, const Options& options);
/// Gives the recipe the format that the target has for its name and shape.
void set_format(const Options& options, Recipe* recipe);
/// Lets a recipe of two or three dimensions write its tensor transposed, a stack slice by slice.
void transpose(const Options& options, Recipe* recipe);
inline bool is_awq(const Recipe& recipe) { return recipe.format == "awq.gemm/1"; }
/// A plan's config.json: `config` with the type of the target's tensors, and AWQ's settings for those tensors
/// of the plan that it has.
Result<std::string> finish_config(std::string_view config, const Options& options, const Plan& plan);

}  // namespace mortise::convert
