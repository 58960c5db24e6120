// A plugin instance as model and engine see it: the kind's functions, the instance, and who it is.
// Thread rule: plain data. Flow: the assembly makes one per part in use; they outlive the model.
#pragma once
#include <mortise/plugin.h>

#include <string>

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
};

}  // namespace mortise
