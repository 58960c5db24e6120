// Program: one step. Each node becomes at most a few parallel regions on the pool.
// Thread rule: the engine thread; tasks on the pool's workers. Flow: see program.h.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "host/clock.h"
#include "model/program.h"

namespace mortise {
namespace {

constexpr uint32_t kRowsPerTask = 16;  // of gathering, copying and K/V writing

uint32_t row_tasks(uint64_t rows) { return static_cast<uint32_t>((rows + kRowsPerTask - 1) / kRowsPerTask); }

}  // namespace

/// The state of one step: the batch, and the rows at hand (all of them, or a chunk of the wanted ones).
struct Program::Run {
  Program& program;
  const Batch& batch;
  const KvStore& kv;
  Pool& pool;
  const uint32_t* wanted = nullptr;
  uint64_t rows = 0;
  std::vector<int32_t> wanted_positions;

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

  /// task(first row, count, worker) over all rows at hand.
  template <class Task>
  void parallel_rows(Task&& task) {
    parallel(row_tasks(rows), [&](uint32_t index, uint32_t worker) {
      const uint64_t row0 = uint64_t{index} * kRowsPerTask;
      task(row0, std::min<uint64_t>(kRowsPerTask, rows - row0), worker);
    });
  }

  Result<void> step(const Step& step);
  void embed(const Node& node, uint32_t at);
  void take_rows(const Node& node, uint32_t at);
  void op(const Step& step);
  void linear(const Step& step);
  const void* prepare(const Weight& weight, const Node& node);
  Result<void> attention(const Step& step);
};

Result<void> Program::Run::step(const Step& step) {
  const uint32_t at = step.nodes[0];
  const Node& node = program.graph_.nodes[at];
  switch (step.kind) {
    case NodeKind::embed:
      embed(node, at);
      break;
    case NodeKind::take_rows:
      take_rows(node, at);
      break;
    case NodeKind::op:
      op(step);
      break;
    case NodeKind::linear:
      linear(step);
      break;
    case NodeKind::attention:
      return attention(step);
    case NodeKind::view:
      break;
  }
  return {};
}

void Program::Run::embed(const Node& node, uint32_t at) {
  const Weight& table = program.weights_.list()[node.matrix];
  parallel_rows([&](uint64_t row0, uint64_t count, uint32_t) {
    for (uint64_t row = row0; row < row0 + count; ++row)
      gather_rows(table, batch.tokens + row, 1, data(at) + row * stride(at));
  });
}

void Program::Run::take_rows(const Node& node, uint32_t at) {
  const uint32_t from = node.inputs[0];
  for (uint64_t row = 0; row < rows; ++row)
    std::memcpy(data(at) + row * stride(at), data(from) + wanted[row] * stride(from),
                node.cols * sizeof(float));
}

void Program::Run::op(const Step& step) {
  const uint32_t at = step.nodes[0];
  const Node& node = program.graph_.nodes[at];
  const Provider& p = program.chooser_.ops_providers()[node.provider];
  const auto& calls = p.table<mortise_ops>();
  const float* inputs[8];
  uint64_t strides[8];
  assert(node.inputs.size() <= 8);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    inputs[i] = data(node.inputs[i]);
    strides[i] = stride(node.inputs[i]);
  }
  mortise_plan plan{sizeof(mortise_plan), 0, 0};
  calls.plan(p.self, step.op, rows, program.workers_, &plan);
  assert(plan.scratch_bytes <= program.scratch_bytes_);
  const int32_t* positions = wanted == nullptr ? batch.attention.positions : wanted_positions.data();
  const mortise_op_args args{sizeof(args), plan.tasks, rows,      inputs, strides,
                             data(at),     stride(at), positions, nullptr};
  parallel(plan.tasks,
           [&](uint32_t task, uint32_t worker) { calls.run(p.self, step.op, &args, task, scratch(worker)); });
}

/// x as the claim wants it: as it is, or prepared into the shared buffer.
const void* Program::Run::prepare(const Weight& weight, const Node& node) {
  const uint32_t from = node.inputs[0];
  if (std::strcmp(weight.claim->activation, "act.f32/1") == 0) return data(from);
  const uint64_t k = weight.desc.k;
  void* self = weight.provider->self;
  const uint32_t tasks = weight.calls->act_tasks(self, weight.choice.claim, rows, k, program.workers_);
  parallel(tasks, [&](uint32_t task, uint32_t) {
    weight.calls->act_prepare(self, weight.choice.claim, data(from), stride(from), rows, k, program.prepared_,
                              task, tasks);
  });
  return program.prepared_;
}

/// A group of weights over one x is one task space, as long as they take x in the same form.
void Program::Run::linear(const Step& step) {
  constexpr size_t kGroupMax = 8;
  size_t first = 0;
  while (first < step.nodes.size()) {
    const Weight& lead = program.weights_.list()[program.graph_.nodes[step.nodes[first]].matrix];
    const void* x = prepare(lead, program.graph_.nodes[step.nodes[first]]);
    struct Part {
      const Weight* weight;
      mortise_linear_args args;
      uint32_t end;
    } parts[kGroupMax];
    size_t count = 0;
    uint32_t tasks = 0;
    for (; first + count < step.nodes.size() && count < kGroupMax; ++count) {
      const uint32_t at = step.nodes[first + count];
      const Node& node = program.graph_.nodes[at];
      const Weight& w = program.weights_.list()[node.matrix];
      const bool same_form = std::strcmp(w.claim->activation, lead.claim->activation) == 0 &&
                             (x == data(node.inputs[0]) || w.provider == lead.provider);
      if (!same_form) break;
      mortise_plan plan{sizeof(mortise_plan), 0, 0};
      w.calls->plan(w.provider->self, w.choice.claim, &w.desc, rows, program.workers_, &plan);
      assert(plan.scratch_bytes <= program.scratch_bytes_);
      const float* bias = node.bias == 0 ? nullptr : program.graph_.vectors[node.bias - 1].data();
      tasks += plan.tasks;
      parts[count] = {&w,
                      {sizeof(mortise_linear_args), plan.tasks, rows, x, stride(node.inputs[0]), data(at),
                       stride(at), bias, nullptr, 0},
                      tasks};
    }
    parallel(tasks, [&](uint32_t task, uint32_t worker) {
      const Part* part = parts;
      while (task >= part->end) ++part;
      const uint32_t own = task - (part->end - part->args.tasks);
      part->weight->calls->run(part->weight->provider->self, part->weight->handle, &part->args, own,
                               scratch(worker));
    });
    first += count;
  }
}

Result<void> Program::Run::attention(const Step& step) {
  const uint32_t at = step.nodes[0];
  const Node& node = program.graph_.nodes[at];
  const mortise_attention& calls = *program.attention_.calls;
  void* self = program.attention_.provider->self;
  Shape& shape = program.shapes_[step.shape];
  const bool writes = node.writes;
  const mortise_attention_args args{sizeof(args),
                                    shape.plan.tasks,
                                    &batch.attention,
                                    shape.workspace.get(),
                                    kv.slot(node.slot),
                                    data(node.inputs[0]),
                                    stride(node.inputs[0]),
                                    writes ? data(node.inputs[1]) : nullptr,
                                    writes ? stride(node.inputs[1]) : 0,
                                    writes ? data(node.inputs[2]) : nullptr,
                                    writes ? stride(node.inputs[2]) : 0,
                                    data(at),
                                    stride(at)};
  if (writes)
    parallel_rows([&](uint64_t row0, uint64_t count, uint32_t) {
      calls.append(self, shape.handle, &args, static_cast<uint32_t>(row0), static_cast<uint32_t>(count));
    });
  parallel(shape.plan.tasks, [&](uint32_t task, uint32_t worker) {
    calls.run(self, shape.handle, &args, task, scratch(worker));
  });
  return {};
}

/// Plans attention once for all layers of a shape; scratch that a plan needs beyond what is there is taken
/// now.
Result<void> Program::plan_attention(const Batch& batch) {
  for (Shape& shape : shapes_) {
    mortise_error error = c_error();
    shape.plan = {sizeof(mortise_plan), 0, 0};
    const uint64_t begin = now_ns();
    const mortise_status status =
        attention_.calls->plan(attention_.provider->self, shape.handle, &batch.attention, workers_,
                               shape.workspace.get(), &shape.plan, &error);
    times_.plugins_ns += now_ns() - begin;
    if (status != MORTISE_OK) return pass(from_c(status, error));
    if (shape.plan.scratch_bytes <= scratch_bytes_) continue;
    free_aligned(scratch_);
    scratch_bytes_ = (shape.plan.scratch_bytes + 63) / 64 * 64;
    scratch_ = allocate_aligned(scratch_bytes_ * workers_, 64);
    if (scratch_ == nullptr) return fail(Code::no_memory, "engine", "no memory for the scratch of attention");
  }
  return {};
}

Result<void> Program::run(const Batch& batch, const KvStore& kv, Pool& pool, const OnLogits& on_logits) {
  assert(batch.attention.rows <= limits_.rows);
  times_ = {};
  MORTISE_CHECK(plan_attention(batch));
  Run run{*this, batch, kv, pool};
  run.rows = batch.attention.rows;
  for (const Step& step : steps_)
    if (!step.is_tail) MORTISE_CHECK(run.step(step));
  for (uint32_t first = 0; first < batch.wanted_count; first += limits_.wanted) {
    run.wanted = batch.wanted + first;
    run.rows = std::min(limits_.wanted, batch.wanted_count - first);
    run.wanted_positions.clear();
    for (uint64_t row = 0; row < run.rows; ++row)
      run.wanted_positions.push_back(batch.attention.positions[run.wanted[row]]);
    for (const Step& step : steps_)
      if (step.is_tail) MORTISE_CHECK(run.step(step));
    on_logits(first, static_cast<uint32_t>(run.rows), run.data(graph_.logits), run.stride(graph_.logits));
  }
  return {};
}

}  // namespace mortise
