// A plugin instance as model and engine see it: the kind's functions, the instance, and who it is.
// Thread rule: plain data. Flow: the assembly makes one per part in use; they outlive the model.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/plugin.h>

#include <string>
#include <string_view>

namespace mortise {

struct Provider {
  std::string name;      // what the TOML calls it
  std::string plugin;    // id of the plugin, "vendor.name"
  bool shipped = false;  // stands in the host's own plugin folder
  void* self = nullptr;
  const mortise_part* part = nullptr;

  /// The kind's struct of functions.
  template <class Table>
  const Table& table() const {
    return *static_cast<const Table*>(part->table);
  }

  /// What a call left in a C error. A plugin that failed without a word is named.
  Error error(std::string_view kind, mortise_status status, const mortise_error& left) const {
    Error out = from_c(status, left);
    if (left.message[0] == '\0' && out.where.empty()) out.where = std::string(kind) + " '" + name + "'";
    return out;
  }
};

}  // namespace mortise
