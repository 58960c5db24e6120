// The descriptor: does what the entry symbol returns hold together, and does it say what the manifest said?
// Thread rule: pure functions. Flow: after dlopen, before anything else of the plugin is called.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/plugin.h>

#include <string>
#include <vector>

#include "config/params.h"
#include "loader/interfaces.h"
#include "loader/manifest.h"

namespace mortise {

/// A part of a loaded plugin with its declarations, read and checked.
struct LoadedPart {
  const mortise_part* part;
  Params params;
};

/// Reads the descriptor: sizes, strings, parts, parameters (config/params.h); id, version, licence and parts
/// must be as in the manifest. The error (bad_data) says what differs. A pointer to nowhere is beyond this
/// check: a plugin is trusted code, and `mortise plugins` looks at it in a child process.
Result<std::vector<LoadedPart>> read_descriptor(const mortise_plugin* plugin, const Manifest& manifest,
                                                const HostOffer& offer, const std::string& where);

}  // namespace mortise
