// The keys of the pipeline file as declarations: checks, nearest names, defaults and docs all come from
// keys.inc. Thread rule: immutable after the first call. Flow: used by load_pipeline and by whoever prints
// help.
#pragma once
#include <string_view>
#include <vector>

#include "config/params.h"

namespace mortise {

/// The declared tables in order, each as a list of parameters whose `owner` is the table's name: model, use,
/// kernels, placement, kv, engine. [defaults] and [plugin.NAME] are declared by plugins.
const std::vector<Params>& pipeline_keys();

/// The declarations of one table, or null.
const Params* pipeline_table(std::string_view table);

}  // namespace mortise
