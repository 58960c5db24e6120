// The state of one call of Program::run, shared by the sources that run its kinds of steps.
// Thread rule: the engine thread; tasks on the pool's workers. Flow: program_run.cc and program_moe.cc alone
// include it.
#pragma once
#include <algorithm>

#include "host/clock.h"
#include "model/program.h"

namespace mortise {

constexpr uint32_t kRowsPerTask = 16;  // of gathering, copying and K/V writing

/// One weight among those that run as one region.
struct LinearPart {
  const Weight* weight = nullptr;
  mortise_linear_args args{};
  uint32_t end = 0;  // of its tasks among all
};

/// The state of one step: the batch, and the rows at hand (all of them, or a chunk of the wanted ones).
struct Program::Run {
  Program& program;
  const Batch& batch;
  const KvStore& kv;
  Pool& pool;
  const uint32_t* wanted = nullptr;
  uint64_t rows = 0;
  std::vector<int32_t> wanted_positions;
  std::vector<uint32_t> wanted_lengths;

  float* data(uint32_t node) const {
    const Place& place = program.places_[node];
    return program.buffers_[place.buffer].data + place.column0;
  }
  uint64_t stride(uint32_t node) const { return program.places_[node].stride; }
  void* scratch(uint32_t worker) const {
    return static_cast<uint8_t*>(program.scratch_) + program.scratch_bytes_ * worker;
  }

  /// task(index, worker) for every index below `tasks`, timed as work of plugins.
  template <class Task>
  void parallel(uint32_t tasks, Task&& task) {
    const uint64_t begin = now_ns();
    pool.parallel(
        tasks, [](void* arg, uint32_t index, uint32_t worker) { (*static_cast<Task*>(arg))(index, worker); },
        &task);
    program.times_.plugins_ns += now_ns() - begin;
  }

  /// task(first row, count, worker) over `count` rows.
  template <class Task>
  void parallel_rows(uint64_t count, Task&& task) {
    const auto tasks = static_cast<uint32_t>((count + kRowsPerTask - 1) / kRowsPerTask);
    parallel(tasks, [&](uint32_t index, uint32_t worker) {
      const uint64_t row0 = uint64_t{index} * kRowsPerTask;
      task(row0, std::min<uint64_t>(kRowsPerTask, count - row0), worker);
    });
  }

  Result<void> step(const Step& step);
  void embed(const Node& node, uint32_t at);
  void embed_positions(const Node& node, uint32_t at);
  void take_rows(const Node& node, uint32_t at);
  void op(const Step& step);
  void linear(const Step& step);
  const void* prepare(const Weight& weight, const Node& node);
  void run_parts(const LinearPart* parts, size_t count);
  Result<void> moe_linear(const Step& step);
  Result<void> prepare_experts(std::vector<LinearPart>* parts);
  Result<void> attention(const Step& step);
};

}  // namespace mortise
