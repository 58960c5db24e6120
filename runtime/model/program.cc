// Program: binding the steps. Thread rule and flow: see program.h; the arena is in program_memory.cc, running
// in program_run.cc.
#include "model/program.h"

#include <algorithm>
#include <numeric>

namespace mortise {
namespace {

bool same_but_sinks(const mortise_attention_layer& a, const mortise_attention_layer& b) {
  return a.heads == b.heads && a.kv_heads == b.kv_heads && a.k_dim == b.k_dim && a.v_dim == b.v_dim &&
         a.window == b.window && a.features == b.features && a.scale == b.scale && a.softcap == b.softcap;
}

}  // namespace

Program::Program(const Graph& graph, const Weights& weights, const Chooser& chooser,
                 const AttentionChoice& attention, const ProgramLimits& limits, uint32_t workers)
    : graph_(graph),
      weights_(weights),
      chooser_(chooser),
      attention_(attention),
      limits_(limits),
      workers_(workers),
      activation_sums_(graph) {}

Result<std::unique_ptr<Program>> Program::make(const Graph& graph, const Weights& weights,
                                               const Chooser& chooser, const AttentionChoice& attention,
                                               const ProgramLimits& limits, uint32_t workers) {
  std::unique_ptr<Program> out(new Program(graph, weights, chooser, attention, limits, workers));
  MORTISE_CHECK(out->bind_steps());
  out->lay_out();
  out->measure();
  return out;
}

Program::~Program() {
  for (Step& step : steps_)
    if (step.op != nullptr) {
      const Provider& p = chooser_.ops_providers()[graph_.nodes[step.nodes[0]].provider];
      p.table<mortise_ops>().unbind(p.self, step.op);
    }
  for (Shape& shape : shapes_)
    if (shape.handle != nullptr) attention_.calls->unbind(attention_.provider->self, shape.handle);
  free_aligned(arena_);
  free_aligned(scratch_);
  free_aligned(prepared_);
}

Result<void> Program::bind_steps() {
  uint32_t last_group = 0;
  for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (node.kind == NodeKind::view) continue;
    if (node.kind == NodeKind::linear && node.group == last_group) {
      steps_.back().nodes.push_back(i);
      continue;
    }
    last_group = node.kind == NodeKind::linear ? node.group : 0;
    Step step{node.kind, {i}};
    step.is_tail = node.wanted;
    if (node.kind == NodeKind::op) MORTISE_CHECK(bind_op(i, &step.op));
    if (node.kind == NodeKind::attention) {
      MORTISE_TRY(shape, bind_shape(node.layer));
      step.shape = shape;
    }
    steps_.push_back(std::move(step));
  }
  return {};
}

Result<void> Program::bind_op(uint32_t index, void** op) {
  const Node& node = graph_.nodes[index];
  std::vector<uint64_t> cols;
  for (uint32_t input : node.inputs) cols.push_back(graph_.nodes[input].cols);
  std::vector<const mortise_attr*> attrs;
  for (const mortise_attr& attr : node.attrs) attrs.push_back(&attr);
  std::vector<mortise_op_vector> vectors(node.vectors.size());
  std::vector<const mortise_op_vector*> pointers;
  for (size_t i = 0; i < node.vectors.size(); ++i) {
    if (node.vectors[i] == 0) {
      pointers.push_back(nullptr);
      continue;
    }
    const std::vector<float>& data = graph_.vectors[node.vectors[i] - 1];
    vectors[i] = {sizeof(mortise_op_vector), 0, data.size(), data.data()};
    pointers.push_back(&vectors[i]);
  }
  const mortise_op_desc desc{sizeof(mortise_op_desc),
                             static_cast<uint32_t>(cols.size()),
                             static_cast<uint32_t>(attrs.size()),
                             static_cast<uint32_t>(pointers.size()),
                             node.op.c_str(),
                             cols.data(),
                             attrs.data(),
                             pointers.data()};
  const Provider& p = chooser_.ops_providers()[node.provider];
  mortise_error error = c_error();
  const mortise_status status = p.table<mortise_ops>().bind(p.self, node.claim, &desc, op, &error);
  return status == MORTISE_OK ? Result<void>() : pass(from_c(status, error));
}

Result<uint32_t> Program::bind_shape(const mortise_attention_layer& layer) {
  for (uint32_t i = 0; i < shapes_.size(); ++i)
    if (same_but_sinks(shapes_[i].layer, layer) && shapes_[i].layer.sinks == layer.sinks) return i;
  Shape shape;
  shape.layer = layer;
  mortise_error error = c_error();
  const mortise_status status = attention_.calls->bind(attention_.provider->self, attention_.layout_index,
                                                       &layer, &shape.handle, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  // From here on the destructor unbinds it.
  shapes_.push_back(std::move(shape));
  Shape& bound = shapes_.back();
  bound.workspace = workspace_for(bound);
  MORTISE_TRY(scratch, longest_scratch(bound));
  scratch_bytes_ = std::max(scratch_bytes_, scratch);
  return static_cast<uint32_t>(shapes_.size() - 1);
}

/// The workspace of an earlier shape that differs in its sinks alone, or else a new one.
uint32_t Program::workspace_for(const Shape& shape) {
  const uint64_t bytes = attention_.calls->plan_bytes(attention_.provider->self, shape.handle, limits_.rows,
                                                      limits_.sequences, limits_.context, workers_);
  const auto like = std::find_if(shapes_.begin(), shapes_.end(),
                                 [&](const Shape& s) { return same_but_sinks(s.layer, shape.layer); });
  if (&*like == &shape) workspaces_.emplace_back();
  const auto index = &*like == &shape ? static_cast<uint32_t>(workspaces_.size() - 1) : like->workspace;
  workspaces_[index].bytes = std::max(workspaces_[index].bytes, bytes);
  return index;
}

/// The scratch of attention over a sequence that fills the context, with as many rows as a step may have, so
/// that explain can tell it and no step has to take more.
Result<uint64_t> Program::longest_scratch(const Shape& shape) const {
  const uint32_t context = limits_.context, rows = std::min(limits_.rows, context);
  std::vector<int32_t> positions(rows);
  std::iota(positions.begin(), positions.end(), static_cast<int32_t>(context - rows));
  const std::vector<int64_t> slots(positions.begin(), positions.end());
  std::vector<uint32_t> blocks((context + MORTISE_KV_BLOCK_TOKENS - 1) / MORTISE_KV_BLOCK_TOKENS);
  std::iota(blocks.begin(), blocks.end(), 0u);
  const uint32_t sequence_rows[] = {0, rows};
  const mortise_attention_step step{sizeof(step),
                                    rows,
                                    1,
                                    static_cast<uint32_t>(blocks.size()),
                                    positions.data(),
                                    slots.data(),
                                    sequence_rows,
                                    &context,
                                    blocks.data()};
  const AlignedMemory workspace(allocate_aligned(workspaces_[shape.workspace].bytes, 64));
  if (workspace == nullptr)
    return fail(Code::no_memory, "engine.max_batch_tokens",
                "no memory for the workspace of attention; lower engine.max_batch_tokens");
  mortise_plan plan{sizeof(plan), 0, 0};
  mortise_error error = c_error();
  const mortise_status status = attention_.calls->plan(attention_.provider->self, shape.handle, &step,
                                                       workers_, workspace.get(), &plan, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  return plan.scratch_bytes;
}

}  // namespace mortise
