// Program: one step. Each node becomes at most a few parallel regions on the pool.
// Thread rule: the engine thread; tasks on the pool's workers. Flow: see program.h.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "model/program_run.h"

namespace mortise {

Result<void> Program::Run::step(const Step& step) {
  const uint32_t at = step.nodes[0];
  const Node& node = program.graph_.nodes[at];
  switch (step.kind) {
    case NodeKind::embed:
      embed(node, at);
      break;
    case NodeKind::embed_positions:
      embed_positions(node, at);
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
    case NodeKind::moe_linear:
      return moe_linear(step);
    case NodeKind::attention:
      return attention(step);
    case NodeKind::view:
      break;
  }
  return {};
}

void Program::Run::embed(const Node& node, uint32_t at) {
  const Weight& table = program.weights_.list()[node.matrix];
  parallel_rows(rows, [&](uint64_t row0, uint64_t count, uint32_t) {
    for (uint64_t row = row0; row < row0 + count; ++row)
      gather_rows(table, batch.tokens + row, 1, data(at) + row * stride(at));
  });
}

/// A padding row takes position 0; the context ends before the table does.
void Program::Run::embed_positions(const Node& node, uint32_t at) {
  const Weight& table = program.weights_.list()[node.matrix];
  parallel_rows(rows, [&](uint64_t row0, uint64_t count, uint32_t) {
    for (uint64_t row = row0; row < row0 + count; ++row) {
      const auto position = static_cast<uint32_t>(std::max(batch.attention.positions[row], 0));
      assert(position < table.desc.rows);
      gather_rows(table, &position, 1, data(at) + row * stride(at));
    }
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
  const uint32_t* lengths = wanted == nullptr ? batch.lengths : wanted_lengths.data();
  const mortise_op_args args{sizeof(args), plan.tasks, rows,      inputs, strides,
                             data(at),     stride(at), positions, lengths};
  parallel(plan.tasks,
           [&](uint32_t task, uint32_t worker) { calls.run(p.self, step.op, &args, task, scratch(worker)); });
}

/// x as the claim wants it: as it is, or prepared into the shared buffer.
const void* Program::Run::prepare(const Weight& weight, const Node& node) {
  const uint32_t from = node.inputs[0];
  if (!weight.is_prepared()) return data(from);
  const uint64_t k = weight.desc.k;
  void* self = weight.provider->self;
  const uint32_t tasks = weight.calls->act_tasks(self, weight.choice.claim, rows, k, program.workers_);
  parallel(tasks, [&](uint32_t task, uint32_t) {
    weight.calls->act_prepare(self, weight.choice.claim, data(from), stride(from), rows, k, program.prepared_,
                              task, tasks);
  });
  return program.prepared_;
}

/// The tasks of several weights as one region.
void Program::Run::run_parts(const LinearPart* parts, size_t count) {
  parallel(parts[count - 1].end, [&](uint32_t task, uint32_t worker) {
    const LinearPart& part = *std::upper_bound(parts, parts + count, task,
                                               [](uint32_t t, const LinearPart& p) { return t < p.end; });
    const uint32_t own = task - (part.end - part.args.tasks);
    part.weight->calls->run(part.weight->provider->self, part.weight->handle, &part.args, own,
                            scratch(worker));
  });
}

/// A group of weights over one x is one task space, as long as they take x in the same form.
void Program::Run::linear(const Step& step) {
  constexpr size_t kGroupMax = 8;
  if (program.activation_sums_.is_on())
    for (uint32_t at : step.nodes) {
      const Node& node = program.graph_.nodes[at];
      program.activation_sums_.add(node.matrix, data(node.inputs[0]), stride(node.inputs[0]), rows, pool);
    }
  size_t first = 0;
  while (first < step.nodes.size()) {
    const Weight& lead = program.weights_.list()[program.graph_.nodes[step.nodes[first]].matrix];
    const void* x = prepare(lead, program.graph_.nodes[step.nodes[first]]);
    LinearPart parts[kGroupMax];
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
    run_parts(parts, count);
    first += count;
  }
}

Result<void> Program::Run::attention(const Step& step) {
  const uint32_t at = step.nodes[0];
  const Node& node = program.graph_.nodes[at];
  const mortise_attention& calls = *program.attention_.calls;
  void* self = program.attention_.provider->self;
  MORTISE_CHECK(program.plan_attention(batch, step.shape));
  const Shape& shape = program.shapes_[step.shape];
  const bool writes = node.writes;
  const mortise_attention_args args{sizeof(args),
                                    shape.plan.tasks,
                                    &batch.attention,
                                    program.workspaces_[shape.workspace].memory.get(),
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
    parallel_rows(rows, [&](uint64_t row0, uint64_t count, uint32_t) {
      calls.append(self, shape.handle, &args, static_cast<uint32_t>(row0), static_cast<uint32_t>(count));
    });
  parallel(shape.plan.tasks, [&](uint32_t task, uint32_t worker) {
    calls.run(self, shape.handle, &args, task, scratch(worker));
  });
  return {};
}

/// Plans attention once for all layers of a shape; scratch that a plan needs beyond what is there is taken
/// now.
Result<void> Program::plan_attention(const Batch& batch, uint32_t index) {
  Shape& shape = shapes_[index];
  Workspace& workspace = workspaces_[shape.workspace];
  if (workspace.planned_for == index) return {};
  mortise_error error = c_error();
  shape.plan = {sizeof(mortise_plan), 0, 0};
  const uint64_t begin = now_ns();
  const mortise_status status =
      attention_.calls->plan(attention_.provider->self, shape.handle, &batch.attention, workers_,
                             workspace.memory.get(), &shape.plan, &error);
  times_.plugins_ns += now_ns() - begin;
  if (status != MORTISE_OK) return pass(from_c(status, error));
  workspace.planned_for = index;
  if (shape.plan.scratch_bytes <= scratch_bytes_) return {};
  free_aligned(scratch_);
  scratch_bytes_ = (shape.plan.scratch_bytes + 63) / 64 * 64;
  scratch_ = allocate_aligned(scratch_bytes_ * workers_, 64);
  if (scratch_ != nullptr) return {};
  scratch_bytes_ = 0;
  return fail(Code::no_memory, "engine", "no memory for the scratch of attention");
}

Result<void> Program::run(const Batch& batch, const KvStore& kv, Pool& pool, const OnLogits& on_logits) {
  assert(batch.attention.rows <= limits_.rows);
  times_ = {};
  for (Workspace& workspace : workspaces_) workspace.planned_for = UINT32_MAX;
  Run run{*this, batch, kv, pool};
  run.rows = batch.attention.rows;
  for (const Step& step : steps_)
    if (!step.is_tail) MORTISE_CHECK(run.step(step));
  for (uint32_t first = 0; first < batch.wanted_count; first += limits_.wanted) {
    run.wanted = batch.wanted + first;
    run.rows = std::min(limits_.wanted, batch.wanted_count - first);
    run.wanted_positions.clear();
    run.wanted_lengths.clear();
    for (uint64_t row = 0; row < run.rows; ++row) {
      run.wanted_positions.push_back(batch.attention.positions[run.wanted[row]]);
      run.wanted_lengths.push_back(batch.lengths[run.wanted[row]]);
    }
    for (const Step& step : steps_)
      if (step.is_tail) MORTISE_CHECK(run.step(step));
    on_logits(first, static_cast<uint32_t>(run.rows), run.data(graph_.logits), run.stride(graph_.logits));
  }
  return {};
}

}  // namespace mortise
