/* What the host lends to a plugin: memory, threads, files, log, clock. Frozen from 1.0.
 * Thread rule: stands at each function. Flow: passed to every create(). */
#ifndef MORTISE_HOST_H
#define MORTISE_HOST_H
#include <mortise/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MORTISE_LOG_DEBUG = 0, MORTISE_LOG_INFO = 1, MORTISE_LOG_WARNING = 2, MORTISE_LOG_ERROR = 3 };

/* Where memory lies and work runs. `stream` is the device's native stream, NULL on the CPU. */
typedef struct mortise_place {
  uint32_t size;
  int32_t ordinal;
  const char* device; /* "cpu" */
  void* stream;
} mortise_place;

/* One piece of parallel work; `worker` is below the host's `workers`, for per-worker scratch. */
typedef void mortise_task(void* arg, uint32_t task, uint32_t worker);

typedef struct mortise_host mortise_host;
struct mortise_host {
  uint32_t size;
  uint32_t abi;
  void* ctx;        /* first argument of every call below */
  uint32_t workers; /* threads of the pool, the caller's own among them */
  uint32_t reserved;

  /* [any] One line; the host adds the plugin's name. */
  void (*log)(void* ctx, int32_t level, mortise_str line);
  /* [any] Memory on `place` (NULL: the CPU's), aligned to `align`, a power of two up to 4096; NULL where
   * there is none. Freed with free_. */
  void* (*alloc)(void* ctx, const mortise_place* place, size_t bytes, size_t align);
  void (*free_)(void* ctx, const mortise_place* place, void* memory);
  /* [any] Monotonic time in nanoseconds. */
  uint64_t (*now_ns)(void* ctx);
  /* [load, engine, any thread of a front end] Runs task 0..tasks-1 on the pool and returns when all are
   * done; callers take turns. Tasks may not call it. */
  void (*parallel)(void* ctx, uint32_t tasks, mortise_task* run, void* arg);
  /* [load, any thread of a front end] A thread of the host's, joined with join; front ends only. */
  mortise_status (*spawn)(void* ctx, mortise_str name, void (*run)(void* arg), void* arg, void** thread,
                          mortise_error* error);
  void (*join)(void* ctx, void* thread);
  /* [load, any thread of a front end] Maps a file read-only for as long as the pipeline lives; `file` names
   * it in planes. The same path gives the same mapping. The bytes may be read, never written. */
  mortise_status (*map_file)(void* ctx, mortise_str path, uint32_t* file, mortise_bytes* view,
                             mortise_error* error);
  /* [load] Loads a private library that stands beside the plugin (manifest key `libs`); the handle is
   * dlsym's. */
  mortise_status (*open_library)(void* ctx, mortise_str name, void** handle, mortise_error* error);
  /* [load] Another interface of the host's by id, e.g. "mortise.engine/1"; NULL where it has none. */
  const void* (*service)(void* ctx, mortise_str id);
  /* [any] 1 where the processor and the system offer the named feature ("avx2", "avx512vnni"; see isa in
   * plugin.h). */
  int32_t (*has_isa)(void* ctx, mortise_str feature);
};

#ifdef __cplusplus
}
#endif
#endif
