// Program: binding the steps, laying out the arena, sizes. Thread rule and flow: see program.h; running is in
// program_run.cc.
#include "model/program.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace mortise {
namespace {

constexpr uint64_t kAlignFloats = 16;  // a cache line

uint64_t rounded(uint64_t count) { return (count + kAlignFloats - 1) / kAlignFloats * kAlignFloats; }

bool same_shape(const mortise_attention_layer& a, const mortise_attention_layer& b) {
  return a.heads == b.heads && a.kv_heads == b.kv_heads && a.k_dim == b.k_dim && a.v_dim == b.v_dim &&
         a.window == b.window && a.features == b.features && a.scale == b.scale && a.softcap == b.softcap &&
         a.sinks == b.sinks;
}

}  // namespace

Program::Program(const Graph& graph, const Weights& weights, const Chooser& chooser,
                 const AttentionChoice& attention, const ProgramLimits& limits, uint32_t workers)
    : graph_(graph),
      weights_(weights),
      chooser_(chooser),
      attention_(attention),
      limits_(limits),
      workers_(workers) {}

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
    if (same_shape(shapes_[i].layer, layer)) return i;
  Shape shape;
  shape.layer = layer;
  mortise_error error = c_error();
  const mortise_status status = attention_.calls->bind(attention_.provider->self, attention_.layout_index,
                                                       &layer, &shape.handle, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  // From here on the destructor unbinds it.
  shapes_.push_back(std::move(shape));
  Shape& bound = shapes_.back();
  bound.workspace_bytes = attention_.calls->plan_bytes(attention_.provider->self, bound.handle, limits_.rows,
                                                       limits_.sequences, limits_.context, workers_);
  MORTISE_TRY(scratch, longest_scratch(bound));
  scratch_bytes_ = std::max(scratch_bytes_, scratch);
  return static_cast<uint32_t>(shapes_.size() - 1);
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
  const AlignedMemory workspace(allocate_aligned(shape.workspace_bytes, 64));
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

/// A free buffer for the node's value, the smallest that holds it or else the largest, which then grows.
uint32_t Program::take_buffer(const Node& node, std::vector<uint32_t>* free) {
  const uint64_t need = rounded(node.cols) * (node.wanted ? limits_.wanted : limits_.rows);
  size_t best = free->size();
  for (size_t i = 0; i < free->size(); ++i) {
    if (best == free->size()) {
      best = i;
      continue;
    }
    const uint64_t have = buffers_[(*free)[i]].capacity, other = buffers_[(*free)[best]].capacity;
    if (other >= need ? have >= need && have < other : have > other) best = i;
  }
  if (best == free->size()) {
    buffers_.push_back(Buffer{});
    free->push_back(static_cast<uint32_t>(buffers_.size() - 1));
  }
  const uint32_t out = (*free)[best];
  free->erase(free->begin() + static_cast<ptrdiff_t>(best));
  buffers_[out].capacity = std::max(buffers_[out].capacity, need);
  return out;
}

/// True where the operation may write over its first input, which nobody reads after it.
bool Program::runs_in_place(const Step& step, const std::vector<uint32_t>& last) const {
  const Node& node = graph_.nodes[step.nodes[0]];
  if (step.kind != NodeKind::op || node.inputs.empty()) return false;
  const uint32_t input = node.inputs[0];
  const Node& from = graph_.nodes[input];
  if (from.kind == NodeKind::view || from.cols != node.cols || from.wanted != node.wanted ||
      last[input] != step.nodes[0])
    return false;
  const Provider& p = chooser_.ops_providers()[node.provider];
  uint32_t count = 0;
  return p.table<mortise_ops>().claims(p.self, &count)[node.claim]->in_place != 0;
}

/// Gives every value a buffer; one whose last reader has run is used again.
void Program::lay_out() {
  const size_t count = graph_.nodes.size();
  std::vector<uint32_t> owner(count), last(count, 0);  // a view's owner is the node that it looks into
  bool in_tail = false;
  for (uint32_t i = 0; i < count; ++i) {
    const Node& node = graph_.nodes[i];
    owner[i] = node.kind == NodeKind::view ? owner[node.inputs[0]] : i;
    in_tail = in_tail || node.wanted;
    // The tail runs several times over, chunk by chunk: what it reads from before lives to the end.
    for (uint32_t input : node.inputs)
      last[owner[input]] = in_tail && !graph_.nodes[input].wanted ? static_cast<uint32_t>(count) : i;
  }
  places_.resize(count);
  std::vector<uint32_t> free;
  std::vector<std::vector<uint32_t>> dying(count + 1);
  for (const Step& step : steps_) {
    const bool in_place = runs_in_place(step, last);
    if (in_place) std::erase(dying[step.nodes[0]], graph_.nodes[step.nodes[0]].inputs[0]);
    for (uint32_t i : step.nodes) {
      const uint32_t buffer =
          in_place ? places_[graph_.nodes[i].inputs[0]].buffer : take_buffer(graph_.nodes[i], &free);
      places_[i] = {buffer, 0, rounded(graph_.nodes[i].cols)};
      dying[std::max(last[i], step.nodes.back())].push_back(i);
    }
    for (uint32_t i : step.nodes)
      for (uint32_t dead : dying[i]) free.push_back(places_[dead].buffer);
    // A view stands between its owner and the next step; values that die there die with it.
    for (uint32_t i = step.nodes.back() + 1; i < count && graph_.nodes[i].kind == NodeKind::view; ++i)
      for (uint32_t dead : dying[i]) free.push_back(places_[dead].buffer);
  }
  for (uint32_t i = 0; i < count; ++i)
    if (graph_.nodes[i].kind == NodeKind::view) {
      const Place from = places_[graph_.nodes[i].inputs[0]];
      places_[i] = {from.buffer, from.column0 + graph_.nodes[i].column0, from.stride};
    }
}

/// Adds up what allocate will take.
void Program::measure() {
  uint64_t floats = 0;
  for (const Buffer& b : buffers_) floats += b.capacity;
  memory_.logits_bytes = rounded(graph_.nodes[graph_.logits].cols) * limits_.wanted * sizeof(float);
  memory_.activations_bytes = floats * sizeof(float) - memory_.logits_bytes;
  for (const Step& step : steps_) {
    const uint64_t rows = step.is_tail ? limits_.wanted : limits_.rows;
    mortise_plan plan{sizeof(mortise_plan), 0, 0};
    for (uint32_t i : step.nodes) {
      const Node& node = graph_.nodes[i];
      if (node.kind == NodeKind::op) {
        const Provider& p = chooser_.ops_providers()[node.provider];
        p.table<mortise_ops>().plan(p.self, step.op, rows, workers_, &plan);
      } else if (node.kind == NodeKind::linear) {
        const Weight& w = weights_.list()[node.matrix];
        w.calls->plan(w.provider->self, w.choice.claim, &w.desc, rows, workers_, &plan);
        if (std::strcmp(w.claim->activation, "act.f32/1") != 0)
          prepared_bytes_ =
              std::max(prepared_bytes_, w.calls->act_bytes(w.provider->self, w.choice.claim, rows, w.desc.k));
      }
      scratch_bytes_ = std::max(scratch_bytes_, plan.scratch_bytes);
    }
  }
  scratch_bytes_ = (scratch_bytes_ + 63) / 64 * 64;
  memory_.workspace_bytes = prepared_bytes_ + scratch_bytes_ * workers_;
  for (const Shape& shape : shapes_) memory_.workspace_bytes += shape.workspace_bytes;
}

Result<void> Program::allocate() {
  uint64_t floats = 0;
  for (const Buffer& b : buffers_) floats += b.capacity;
  arena_ = allocate_aligned(floats * sizeof(float), 64);
  prepared_ = allocate_aligned(prepared_bytes_, 64);
  scratch_ = allocate_aligned(scratch_bytes_ * workers_, 64);
  if (arena_ == nullptr || prepared_ == nullptr || scratch_ == nullptr)
    return fail(Code::no_memory, "engine.max_batch_tokens",
                "no memory for activations; lower engine.max_batch_tokens (see `mortise explain`)");
  auto* at = static_cast<float*>(arena_);
  for (Buffer& b : buffers_) {
    b.data = at;
    at += b.capacity;
  }
  for (Shape& shape : shapes_) {
    shape.workspace.reset(allocate_aligned(shape.workspace_bytes, 64));
    if (shape.workspace == nullptr)
      return fail(Code::no_memory, "engine.max_batch_tokens",
                  "no memory for the workspace of attention; lower engine.max_batch_tokens");
  }
  return {};
}

}  // namespace mortise
