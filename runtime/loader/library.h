// Loading: the only dlopen of the host. A plugin that is loaded stays until the process ends.
// Thread rule: any thread; loads are serialised. Flow: PluginFile of the catalog -> descriptor -> instances.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>
#include <vector>

#include "loader/catalog.h"
#include "loader/descriptor.h"

namespace mortise {

/// A plugin whose code is in the process. Lives as long as the process.
struct LoadedPlugin {
  std::string path;
  Manifest manifest;
  std::vector<LoadedPart> parts;

  /// The part, or null.
  const LoadedPart* find(std::string_view kind, std::string_view name) const;
};

/// Loads the file with all its symbols bound and none of them lent to others, makes sure that what was loaded
/// is what was checked, and compares the descriptor with the manifest. The same file (device, inode) is
/// loaded once. Never unloads: a thread, a destructor or an interned name of its may still be in use. Errors
/// name a missing symbol or dependency: bad_data; io where the file was replaced since it was checked.
Result<const LoadedPlugin*> load_plugin(const PluginFile& file, const HostOffer& offer);

/// What host.open_library gives: the dlsym handle of a library that the plugin's manifest names in `libs`.
/// Errors: not_found, and those of the path policy and of loading.
Result<void*> open_private_library(const LoadedPlugin& plugin, std::string_view name);

}  // namespace mortise
