// Loading; see library.h. Thread rule: one lock around the process-wide list, since dlopen is process-wide
// too. Flow: checked file -> dlopen -> entry symbol -> descriptor.
#include "loader/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <vector>

namespace mortise {
namespace {

namespace dll = boost::dll;

struct Loaded {
  FileIdentity identity;
  LoadedPlugin plugin;
};

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<Loaded>> all;
  std::vector<dll::shared_library*> libraries;  // never deleted: that would dlclose
};

Registry& registry() {
  static Registry* const all = new Registry;  // outlives every destructor
  return *all;
}

// Boost says "boost::dll::shared_library::load() failed (dlerror system message: TEXT): errno's text"; only
// TEXT is about the plugin, what errno held is by chance.
std::string dlerror_text(const std::string& what, const std::string& path) {
  constexpr std::string_view start = "dlerror system message: ";
  const size_t at = what.find(start);
  if (at == std::string::npos) return what;
  std::string text = what.substr(at + start.size());
  text = text.substr(0, text.rfind("): "));
  if (text.compare(0, path.size() + 2, path + ": ") == 0) text.erase(0, path.size() + 2);
  return text;
}

// dlopen of `path` for the plugin `where`, kept for ever.
Result<dll::shared_library*> open_library(Registry& all, const std::string& path, const std::string& where) {
  try {
    // By its real path, so that $ORIGIN, dladdr and debuggers work. Now: a missing symbol must show here and
    // not at its first call. Local: plugins do not see each other's symbols.
    all.libraries.push_back(
        new dll::shared_library(path, dll::load_mode::rtld_now | dll::load_mode::rtld_local));
    return all.libraries.back();
  } catch (const std::system_error& error) {
    return fail(Code::bad_data, where,
                fmt::format("cannot be loaded: {}; rebuild it or install what it needs",
                            dlerror_text(error.what(), path)));
  } catch (const std::exception& error) {
    return fail(Code::bad_data, where, fmt::format("a constructor of its failed: {}", error.what()));
  } catch (...) {
    return fail(Code::bad_data, where, "a constructor of its threw an exception; see its author");
  }
}

// A library of the manifest's `libs`, which stands beside the plugin and obeys the same path policy.
Result<dll::shared_library*> open_private(Registry& all, const std::string& plugin, const std::string& name) {
  const std::string path = (std::filesystem::path(plugin).parent_path() / name).string();
  const auto checked = open_checked(path);
  if (!checked) {
    return fail(checked.error().code, plugin,
                fmt::format("its private library {}: {}", name, checked.error().message));
  }
  return open_library(all, checked->path, plugin);
}

Result<const mortise_plugin*> call_entry(const dll::shared_library& library, const PluginFile& file) {
  if (!library.has(MORTISE_ENTRY_NAME)) {
    return fail(Code::bad_data, file.path,
                "lacks the symbol " MORTISE_ENTRY_NAME "; build it with MORTISE_PLUGIN");
  }
  try {
    return library.get<mortise_plugin_entry>(MORTISE_ENTRY_NAME)();
  } catch (...) {
    return fail(Code::bad_data, file.path, MORTISE_ENTRY_NAME " threw an exception; it must only return");
  }
}

// What a path holds cannot be loaded again under it: dlopen would find the old library by its name.
Result<const LoadedPlugin*> find_loaded(const Registry& all, const PluginFile& file) {
  for (const auto& loaded : all.all) {
    if (loaded->identity == file.identity) return &loaded->plugin;
    if (loaded->plugin.path == file.path || loaded->identity.same_file(file.identity)) {
      return fail(Code::io, file.path,
                  "was changed after this process had loaded it; start the process again");
    }
  }
  return nullptr;
}

}  // namespace

const LoadedPart* LoadedPlugin::find(std::string_view kind, std::string_view name) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const LoadedPart& loaded) {
    return loaded.part->kind == kind && loaded.part->name == name;
  });
  return found == parts.end() ? nullptr : &*found;
}

Result<const LoadedPlugin*> load_plugin(const PluginFile& file, const HostOffer& offer) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  MORTISE_TRY(known, find_loaded(all, file));
  if (known != nullptr) return known;
  // Before the plugin, so that what it links against them is found by name.
  for (const std::string& name : file.manifest.libs) {
    const auto opened = open_private(all, file.path, name);
    if (!opened) return pass(opened.error());
  }
  MORTISE_TRY(library, open_library(all, file.path, file.path));
  MORTISE_TRY(now, identify(file.path));
  if (now != file.identity) {
    return fail(Code::io, file.path, "was changed while it was being loaded; start again");
  }
  MORTISE_TRY(descriptor, call_entry(*library, file));
  MORTISE_TRY(parts, read_descriptor(descriptor, file.manifest, offer, file.path));
  all.all.push_back(
      std::make_unique<Loaded>(Loaded{file.identity, {file.path, file.manifest, std::move(parts)}}));
  return &all.all.back()->plugin;
}

Result<void*> open_private_library(const LoadedPlugin& plugin, std::string_view name) {
  const auto& libs = plugin.manifest.libs;
  if (std::find(libs.begin(), libs.end(), name) == libs.end()) {
    return fail(Code::not_found, plugin.path,
                fmt::format("its manifest's libs do not name '{}'; add it there", name));
  }
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  MORTISE_TRY(library, open_private(all, plugin.path, std::string(name)));
  return static_cast<void*>(library->native());
}

}  // namespace mortise
