// The engine's border: template source in, rendered text or an Error out. No exception leaves.
// Thread rule: compile and render are pure; one Template may be rendered by any number of threads at once.
// Flow: plugin.cc compiles at load and renders for each request; tests and the fuzz target come in here too.
#pragma once
#include <memory>
#include <string_view>

#include "interp.h"

namespace mortise::jinja {

/// Errors carry "chat template line N" as place. `source` may be any bytes.
Result<std::unique_ptr<Template>> compile(std::string_view source);

/// `context` holds the variables; the global functions come in beneath them. Its values must outlive the
/// call.
Result<Text> render(const Template& t, Context context);

}  // namespace mortise::jinja
