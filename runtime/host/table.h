// The host table of one plugin instance: the C face of what the host lends.
// Thread rule: as each function of mortise/host.h says. Flow: built before create(), kept until after
// destroy().
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/host.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "host/files.h"
#include "host/log.h"
#include "host/pool.h"

namespace mortise {

constexpr size_t kSpawnedThreadsMax = 64;  // of one front end

/// What stands behind the tables of one pipeline. All of it outlives them.
struct HostServices {
  Log* log = nullptr;
  Pool* pool = nullptr;
  Files* files = nullptr;
  /// Opens private library `name` of plugin `plugin` under the path policy; null: no plugin may open one.
  std::function<Result<void*>(std::string_view plugin, std::string_view name)> open_library;
  /// The host's further interfaces by id, e.g. "mortise.draft.engine/1".
  std::map<std::string, const void*, std::less<>> interfaces;
};

class HostTable {
 public:
  /// `plugin` is the name in log lines. Only front ends may spawn threads.
  HostTable(const HostServices& services, std::string plugin, bool may_spawn);
  /// Waits for threads that the plugin did not join: they may still run its code.
  ~HostTable();
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  const mortise_host* get() const { return &table_; }

 private:
  struct Calls;
  Result<void*> spawn(std::string_view name, void (*run)(void*), void* arg);
  void join(void* thread);

  const HostServices& services_;
  const std::string plugin_;
  const bool may_spawn_;
  mortise_host table_{};
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::thread>> threads_;
};

}  // namespace mortise
