// The [use] and [kernels] tables: plugins by kind, pins, denials.
// Thread rule: pure functions. Flow: called by parse_pipeline for the tables that name plugins.
#pragma once
#include "config/pipeline.h"

namespace mortise {

/// One entry of [use] into `out`. Errors: where = the value's or key's position.
Result<void> read_use(const RawEntry& entry, Pipeline& out);

/// One entry of [kernels] into `out`.
Result<void> read_kernels(const RawEntry& entry, Pipeline& out);

}  // namespace mortise
