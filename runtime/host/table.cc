// The functions of the host table. None lets an exception out.
// Thread rule: see mortise/host.h. Flow: `ctx` is the HostTable.
#include "host/table.h"

#include <algorithm>
#include <cstring>

#include "host/clock.h"
#include "host/isa.h"
#include "host/memory.h"
#include "host/threads.h"

namespace mortise {

struct HostTable::Calls {
  static HostTable& self(void* ctx) { return *static_cast<HostTable*>(ctx); }
  static bool on_cpu(const mortise_place* place) {
    return place == nullptr || place->device == nullptr || std::strcmp(place->device, "cpu") == 0;
  }

  static void log(void* ctx, int32_t level, mortise_str line) {
    self(ctx).services_.log->write(level, self(ctx).plugin_, view(line));
  }
  static void* alloc(void*, const mortise_place* place, size_t bytes, size_t align) {
    return on_cpu(place) ? allocate_aligned(bytes, align) : nullptr;
  }
  static void free_(void*, const mortise_place* place, void* memory) {
    if (on_cpu(place)) free_aligned(memory);
  }
  static uint64_t now(void*) { return now_ns(); }
  static void parallel(void* ctx, uint32_t tasks, mortise_task* run, void* arg) {
    self(ctx).services_.pool->parallel(tasks, run, arg);
  }
  static mortise_status spawn(void* ctx, mortise_str name, void (*run)(void*), void* arg, void** thread,
                              mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(started, self(ctx).spawn(view(name), run, arg));
      *thread = started;
      return {};
    });
  }
  static void join(void* ctx, void* thread) { self(ctx).join(thread); }
  static mortise_status map_file(void* ctx, mortise_str path, uint32_t* file, mortise_bytes* bytes,
                                 mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(mapping, self(ctx).services_.files->map(std::string(view(path))));
      *file = mapping->file;
      *bytes = {mapping->data, static_cast<size_t>(mapping->size_bytes)};
      return {};
    });
  }
  static mortise_status open_library(void* ctx, mortise_str name, void** handle, mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      const HostTable& table = self(ctx);
      if (!table.services_.open_library)
        return fail(Code::unsupported, std::string(view(name)), "no private library may be opened here");
      MORTISE_TRY(opened, table.services_.open_library(table.plugin_, view(name)));
      *handle = opened;
      return {};
    });
  }
  static const void* service(void* ctx, mortise_str id) {
    const auto& all = self(ctx).services_.interfaces;
    const auto found = all.find(view(id));
    return found == all.end() ? nullptr : found->second;
  }
  static int32_t isa(void*, mortise_str feature) { return has_isa(view(feature)) ? 1 : 0; }
};

HostTable::HostTable(const HostServices& services, std::string plugin, bool may_spawn)
    : services_(services), plugin_(std::move(plugin)), may_spawn_(may_spawn) {
  table_.size = sizeof(table_);
  table_.abi = MORTISE_ABI;
  table_.ctx = this;
  table_.workers = services.pool->workers();
  table_.log = Calls::log;
  table_.alloc = Calls::alloc;
  table_.free_ = Calls::free_;
  table_.now_ns = Calls::now;
  table_.parallel = Calls::parallel;
  table_.spawn = Calls::spawn;
  table_.join = Calls::join;
  table_.map_file = Calls::map_file;
  table_.open_library = Calls::open_library;
  table_.service = Calls::service;
  table_.has_isa = Calls::isa;
}

HostTable::~HostTable() {
  for (const auto& thread : threads_) thread->join();
}

Result<void*> HostTable::spawn(std::string_view name, void (*run)(void*), void* arg) {
  if (!may_spawn_) return fail(Code::unsupported, plugin_, "only front ends may start threads; use the pool");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (threads_.size() >= kSpawnedThreadsMax)
    return fail(Code::limit, plugin_,
                "asks for more than " + std::to_string(kSpawnedThreadsMax) + " threads; join some first");
  try {
    threads_.push_back(
        std::make_unique<std::thread>(start_thread(std::string(name), [run, arg] { run(arg); })));
  } catch (const std::system_error& error) {
    return fail(Code::no_memory, plugin_,
                "the system gives no further thread (" + error.code().message() + "); raise its limit");
  }
  return static_cast<void*>(threads_.back().get());
}

void HostTable::join(void* thread) {
  std::unique_ptr<std::thread> own;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found =
        std::find_if(threads_.begin(), threads_.end(), [&](const auto& one) { return one.get() == thread; });
    if (found == threads_.end()) return;
    own = std::move(*found);
    threads_.erase(found);
  }
  own->join();
}

}  // namespace mortise
