// The manifest: what a plugin says about itself before any of its code runs.
// Thread rule: plain data. Flow: note text (elf.h) -> Manifest -> checked against the host's offer ->
// catalog.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>
#include <vector>

#include "loader/interfaces.h"

namespace mortise {

constexpr size_t kIdBytesMax = 63;             // plugin ids and part names
constexpr size_t kInterfaceIdBytesMax = 127;   // "mortise.draft.sampler/1"
constexpr size_t kManifestTextBytesMax = 127;  // version, licence, names of libraries
constexpr size_t kManifestListMax = 64;        // entries of one list; so also parts of one plugin

/// A kind's interface under a name; (kind, name) is unique among the plugins of a run.
struct PartName {
  std::string kind;
  std::string name;

  bool operator==(const PartName&) const = default;
  std::string text() const { return kind + ":" + name; }
};

struct Manifest {
  std::string id;  // "vendor.name"
  std::string version;
  std::string license;
  std::vector<std::string> needs;
  std::vector<PartName> provides;
  std::vector<std::string> isa;
  std::string device = "cpu";
  std::vector<std::string> libs;
  bool own_threads = false;
};

/// Letters a-z, digits, `.`, `_`, `-`; 1 to kIdBytesMax bytes.
bool is_id(std::string_view text);

/// Takes the text of a note apart; keys and limits as in plugin.h. The ABI's number is judged first, so that
/// a later ABI may change all else. An unknown key is refused: what a newer SDK adds may be something that
/// the host must do. Errors: bad_data, unsupported (another ABI), limit.
Result<Manifest> parse_manifest(std::string_view text, const std::string& where);

/// Whether the host and the machine have what the plugin needs: interfaces, kinds, processor features,
/// device. The error (unsupported) names what is missing.
Result<void> check_offer(const Manifest& manifest, const HostOffer& offer, const std::string& where);

}  // namespace mortise
