// The parts of a pipeline: plugins found, loaded where they are needed, instances made with their settings.
// Thread rule: the loading thread; the instances are used as their kinds say. Flow: pipeline + catalog ->
// here -> providers for the selection, the chooser and the front ends.
#pragma once
#include <mortise/cpp/result.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/pipeline.h"
#include "host/files.h"
#include "host/log.h"
#include "host/pool.h"
#include "host/table.h"
#include "loader/catalog.h"
#include "loader/part_instance.h"
#include "model/provider.h"

namespace mortise {

/// A row of explain: what serves a kind (`plugin` is its id), or an operation (`name` is the operation's id
/// and `plugin` the name that pins use), and why.
struct PartRow {
  std::string kind, name, plugin, why;
};

class Parts {
 public:
  /// Looks the plugin folders through; loads nothing yet. Everything given outlives it.
  static Result<std::unique_ptr<Parts>> make(const Pipeline& pipeline,
                                             const std::vector<std::string>& folders, Log& log, Pool& pool,
                                             Files& files);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  /// An instance of `kind:plugin` with the settings of [plugin.NAME]. Errors: not installed (the nearest
  /// name), refused, wrong settings; `where` is the setting that asks for it.
  Result<const Provider*> use(std::string_view kind, const Use& use);
  /// One instance of every installed part of a kind. One that cannot be loaded is a warning and is left out.
  Result<std::vector<Provider>> all(std::string_view kind);
  /// Names of the installed parts of a kind, the host's own first, each by name.
  std::vector<std::string> names(std::string_view kind) const;
  bool is_shipped(std::string_view kind, std::string_view name) const;
  /// Every table [plugin.NAME] must be of an installed part, and every key of a part in use. Called when all
  /// are made: parts of several kinds may share a name and so a table.
  Result<void> check_tables() const;
  /// Declared parameters of an instance's part.
  const Params& params(const Provider& provider) const;

  std::vector<PartRow> rows;  // filled by who chooses

 private:
  struct Held;
  Parts(const Pipeline& pipeline, Log& log);
  Result<const Provider*> load(const PluginFile& file, std::string_view kind, const std::string& name,
                               const std::string& instance);
  Result<void> check_table_keys(const PluginTable& table) const;
  bool is_own(const PluginFile& file) const { return file.path.starts_with(own_folder_); }

  const Pipeline& pipeline_;
  Log& log_;
  HostOffer offer_;
  Catalog catalog_;
  std::string own_folder_;  // with a slash at its end
  HostServices services_;
  std::map<std::string, const LoadedPlugin*, std::less<>> loaded_;  // by plugin id
  std::deque<Held> held_;
};

struct Parts::Held {
  std::string kind, instance;
  std::unique_ptr<HostTable> host;
  std::unique_ptr<PartInstance> part;
  const LoadedPart* loaded = nullptr;
  Provider provider;
};

}  // namespace mortise
