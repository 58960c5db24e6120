// attention/paged: a step's work as units, and the workspace that holds them.
// Thread rule: written by plan [engine]; tasks read it, but for the counters and partial results of split
// units. Flow: plan.cc fills it once per step, run.cc works through it once per layer.
#pragma once
#include <atomic>

#include "paged.h"

namespace attention_paged {

constexpr uint32_t kNone = UINT32_MAX;

/// Rows [row0, row0 + rows) with one KV head over stretches [stretch0, stretch1). sequence = kNone: padding
/// rows, whose result is zero for all heads.
struct Unit {
  uint32_t sequence, kv_head, row0, rows, stretch0, stretch1;
  uint32_t split;  // index of the split it is a part of, or kNone
};

/// A unit cut into pieces of its stretches. Each piece leaves its partial results in the workspace, and the
/// last one to finish merges them all in ascending order.
struct Split {
  std::atomic<uint32_t> left;  // pieces still at work; back at `pieces` when all are done, for the next layer
  uint32_t pieces;
  uint32_t stretch0, stretch1;
  uint64_t partials;  // index of the first of [stretch][query]
};

/// Largest numbers of units, splits and partial results of a step; they grow with each argument.
struct Bounds {
  uint64_t units, splits, partials;
};
Bounds bounds(const Layer& layer, uint32_t rows, uint32_t sequences, uint32_t context, uint32_t workers);

struct Header {
  Bounds bounds;
  uint64_t tasks;
};

struct Workspace {
  Header* header;
  Unit* units;
  uint32_t* task_ends;  // [tasks] end of each task's units
  Split* splits;
  uint8_t* partials;
  uint64_t bytes;  // of all of it

  Partial* partial(const Layer& layer, uint64_t index) const {
    return reinterpret_cast<Partial*>(partials + index * layer.partial_bytes());
  }
};

/// The parts of a workspace of these bounds; without memory only `bytes` is meant.
Workspace view(void* memory, const Layer& layer, const Bounds& bounds);

/// Fills a workspace, which has room for the step's bounds.
void cut(const Layer& layer, const mortise_attention_step& step, uint32_t workers, void* memory);

/// Bytes of scratch of a task.
uint64_t scratch_bytes(const Layer& layer);

/// Does the units of one task.
void run_task(const Layer& layer, const mortise_attention_args& args, uint32_t task, void* scratch);

}  // namespace attention_paged
