// The catalog: every plugin file in reach, what it offers, and why others were refused. Opens no code.
// Thread rule: plain data; scan from any thread. Flow: folders -> checked files -> the pipeline asks by kind
// and name.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>
#include <vector>

#include "loader/interfaces.h"
#include "loader/manifest.h"
#include "loader/policy.h"

namespace mortise {

constexpr size_t kFolderFilesMax = 65536;  // *.so files in one folder

/// A file whose path, ELF headers and manifest passed, and whose needs this host meets.
struct PluginFile {
  std::string path;  // canonical
  FileIdentity identity;
  Manifest manifest;
  std::vector<std::string> needed;  // libraries that its dynamic section names
  std::vector<PartName> parts;      // those of manifest.provides that no earlier folder shadows
};

struct Refusal {
  std::string path;
  std::string reason;  // one line
};

struct PluginFolder {
  std::string path;
  std::string origin;  // what named it: "--plugins", "MORTISE_PLUGINS", "own tree"
};

struct Catalog {
  std::vector<PluginFile> files;  // by folder, then by name
  std::vector<Refusal> refused;

  /// The file that offers the part, or null.
  const PluginFile* find(std::string_view kind, std::string_view name) const;
  /// Names of the parts of one kind, in the catalog's order.
  std::vector<std::string> names(std::string_view kind) const;
};

/// Where plugins are looked for, first wins: the `--plugins` folders, those of MORTISE_PLUGINS (separated by
/// colons; ignored in a setuid program), `../lib/mortise` of the host's real binary. Never the working
/// directory.
Result<std::vector<PluginFolder>> plugin_folders(const std::vector<std::string>& options);

/// Where installed configs are looked for: `../share/mortise/configs` of the host's real binary, and
/// `configs` of the source tree whose build/<preset>/bin the binary stands in. Those that are there.
std::vector<std::string> config_folders();

/// All checks of one file that need none of its code.
Result<PluginFile> read_plugin_file(const std::string& path, const HostOffer& offer);

/// Reads every *.so of the folders. (kind, name) is unique: an earlier folder shadows a later one, and a name
/// twice in one folder refuses both files. Errors: only of a `--plugins` folder that cannot be listed
/// (bad_argument) and of a folder with too many files (limit).
Result<Catalog> scan_plugins(const std::vector<PluginFolder>& folders, const HostOffer& offer);

}  // namespace mortise
