// The decoder-only transformer: one graph for every family, which differ by data.
// Thread rule: [load]. Flow: metadata -> hyperparameters -> the builder's nodes, layer by layer.
#pragma once
#include <mortise/arch.h>
#include <mortise/cpp/result.h>

namespace decoder {

/// Emits the graph. Errors name the key or tensor; those of the builder stay with the builder.
mortise::Result<void> build(const mortise_model& model, const mortise_builder& builder);

}  // namespace decoder
