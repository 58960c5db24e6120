// Parts: see parts.h.
#include "model/parts.h"

#include <algorithm>

#include "config/nearest.h"
#include "config/params.h"

namespace mortise {

Parts::Parts(const Pipeline& pipeline, Log& log) : pipeline_(pipeline), log_(log), offer_(host_offer()) {}

Result<std::unique_ptr<Parts>> Parts::make(const Pipeline& pipeline, const std::vector<std::string>& folders,
                                           Log& log, Pool& pool, Files& files) {
  std::unique_ptr<Parts> out(new Parts(pipeline, log));
  MORTISE_TRY(searched, plugin_folders(folders));
  MORTISE_TRY(catalog, scan_plugins(searched, out->offer_));
  out->catalog_ = std::move(catalog);
  if (!searched.empty() && searched.back().origin == "own tree")
    out->own_folder_ = searched.back().path + "/";
  out->services_.log = &log;
  out->services_.pool = &pool;
  out->services_.files = &files;
  out->services_.open_library = [self = out.get()](std::string_view id,
                                                   std::string_view name) -> Result<void*> {
    auto plugin = self->loaded_.find(id);
    if (plugin == self->loaded_.end()) return fail(Code::internal, std::string(id), "is no loaded plugin");
    return open_private_library(*plugin->second, name);
  };
  return out;
}

std::vector<std::string> Parts::names(std::string_view kind) const {
  std::vector<std::string> out = catalog_.names(kind);
  std::sort(out.begin(), out.end(), [&](const std::string& a, const std::string& b) {
    const bool own_a = is_shipped(kind, a), own_b = is_shipped(kind, b);
    return own_a != own_b ? own_a : a < b;
  });
  return out;
}

bool Parts::is_shipped(std::string_view kind, std::string_view name) const {
  const PluginFile* file = catalog_.find(kind, name);
  return file != nullptr && !own_folder_.empty() && is_own(*file);
}

Result<const Provider*> Parts::use(std::string_view kind, const Use& use) {
  const std::string& instance = use.name.empty() ? use.plugin : use.name;
  for (const Held& held : held_)
    if (held.kind == kind && held.instance == instance && held.provider.name == use.plugin)
      return &held.provider;
  const PluginFile* file = catalog_.find(kind, use.plugin);
  if (file != nullptr) return load(*file, kind, use.plugin, instance);
  // A file that was refused may be just the one that is meant.
  for (const Refusal& refusal : catalog_.refused)
    if (refusal.path.find("-" + use.plugin + ".so") != std::string::npos)
      return fail(Code::bad_argument, use.where,
                  std::string(kind) + " plugin '" + use.plugin + "': " + refusal.path +
                      " is refused: " + refusal.reason);
  return fail(Code::bad_argument, use.where,
              "no " + std::string(kind) + " plugin '" + use.plugin + "' is installed; " +
                  suggest_name(use.plugin, names(kind)));
}

Result<const Provider*> Parts::load(const PluginFile& file, std::string_view kind, const std::string& name,
                                    const std::string& instance) {
  MORTISE_TRY(plugin, load_plugin(file, offer_));
  loaded_[plugin->manifest.id] = plugin;
  const LoadedPart* part = plugin->find(kind, name);
  if (part == nullptr)
    return fail(Code::bad_argument, file.path, "offers no " + std::string(kind) + " '" + name + "'");
  // Keys of another part with this name are not this one's; check_tables sees that each is somebody's.
  std::vector<RawEntry> entries = pipeline_.table(instance);
  std::erase_if(entries, [&](const RawEntry& entry) { return part->params.find(entry.key) == nullptr; });
  MORTISE_TRY(given, check_table(part->params, "plugin." + instance, entries, pipeline_.folder));
  Held held{std::string(kind),
            instance,
            std::make_unique<HostTable>(services_, file.manifest.id, kind == "frontend"),
            nullptr,
            part,
            {}};
  MORTISE_TRY(made, PartInstance::create(*plugin, *part, held.host->get(),
                                         fill_values(part->params, given, pipeline_.folder)));
  held.part = std::make_unique<PartInstance>(std::move(made));
  held.provider = {name, file.manifest.id, is_shipped(kind, name), held.part->self(), part->part};
  held_.push_back(std::move(held));
  return &held_.back().provider;
}

Result<std::vector<Provider>> Parts::all(std::string_view kind) {
  std::vector<Provider> out;
  for (const std::string& name : names(kind)) {
    auto provider = use(kind, Use{name, name, pipeline_.source});
    if (provider)
      out.push_back(**provider);
    else if (is_shipped(kind, name))
      return pass(provider.error());
    else
      log_.warn(std::string(kind) + " plugin '" + name + "' is left out: " + provider.error().text());
  }
  return out;
}

Result<void> Parts::check_tables() const {
  std::vector<std::string> known;
  for (const std::string& kind : offer_.kinds())
    for (std::string& name : catalog_.names(kind)) known.push_back(std::move(name));
  for (const Held& held : held_) known.push_back(held.instance);
  for (const PluginTable& table : pipeline_.plugins) {
    if (std::find(known.begin(), known.end(), table.name) == known.end())
      return fail(
          Code::bad_argument, table.where,
          "plugin." + table.name + ": no such plugin is installed; " + suggest_name(table.name, known));
    MORTISE_CHECK(check_table_keys(table));
  }
  return {};
}

Result<void> Parts::check_table_keys(const PluginTable& table) const {
  std::vector<const Params*> owners;
  for (const Held& held : held_)
    if (held.instance == table.name) owners.push_back(&held.loaded->params);
  for (const RawEntry& entry : table.entries) {
    const bool is_known = std::any_of(owners.begin(), owners.end(),
                                      [&](const Params* owner) { return owner->find(entry.key) != nullptr; });
    if (owners.empty() || is_known) continue;
    // The part with most parameters has the likeliest nearest name.
    const Params* owner =
        *std::max_element(owners.begin(), owners.end(),
                          [](const Params* a, const Params* b) { return a->list.size() < b->list.size(); });
    auto checked = check_table(*owner, "plugin." + table.name, {entry}, pipeline_.folder);
    if (!checked) return pass(checked.error());
  }
  return {};
}

const Params& Parts::params(const Provider& provider) const {
  const auto at = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
    return held.provider.self == provider.self && held.provider.part == provider.part;
  });
  return at->loaded->params;
}

}  // namespace mortise
