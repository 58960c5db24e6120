// Program: laying out the arena, and the sizes of everything that a step needs. Thread rule and flow: see
// program.h.
#include <algorithm>

#include "model/program.h"

namespace mortise {
namespace {

constexpr uint64_t kAlignFloats = 16;  // a cache line

uint64_t rounded(uint64_t count) { return (count + kAlignFloats - 1) / kAlignFloats * kAlignFloats; }

}  // namespace

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

/// What one linear weight takes for `rows` rows of x.
void Program::measure_linear(const Node& node, uint64_t rows, mortise_plan* plan) {
  const Weight& w = weights_.list()[node.matrix];
  w.calls->plan(w.provider->self, w.choice.claim, &w.desc, rows, workers_, plan);
  if (w.is_prepared())
    prepared_bytes_ =
        std::max(prepared_bytes_, w.calls->act_bytes(w.provider->self, w.choice.claim, rows, w.desc.k));
}

/// All rows may go to one expert, or be spread over as many as there are, each with a form of its own that
/// begins at a cache line.
void Program::measure_experts(const Node& node, uint64_t rows, mortise_plan* plan) {
  const uint64_t chosen = graph_.nodes[node.inputs[1]].cols / 2, routes = rows * chosen;
  uint64_t scratch_bytes = 0, prepared_bytes = 0;
  for (uint32_t expert : node.experts) {
    const Weight& w = weights_.list()[expert];
    void* self = w.provider->self;
    w.calls->plan(self, w.choice.claim, &w.desc, routes, workers_, plan);
    scratch_bytes = std::max(scratch_bytes, plan->scratch_bytes);
    if (w.is_prepared())
      prepared_bytes =
          std::max(prepared_bytes, w.calls->act_bytes(self, w.choice.claim, routes, w.desc.k) +
                                       std::min<uint64_t>(node.experts.size(), routes) *
                                           (w.calls->act_bytes(self, w.choice.claim, 1, w.desc.k) + 64));
  }
  plan->scratch_bytes = scratch_bytes;
  prepared_bytes_ = std::max(prepared_bytes_, prepared_bytes);
  expert_rows_.reserve(routes, weights_.list()[node.experts[0]].desc.k, node.cols / chosen);
}

/// Adds up what allocate will take.
void Program::measure() {
  uint64_t floats = 0;
  for (const Buffer& b : buffers_) floats += b.capacity;
  memory_.logits_bytes = rounded(graph_.nodes[graph_.logits].cols) * limits_.wanted * sizeof(float);
  memory_.activations_bytes = floats * sizeof(float) - memory_.logits_bytes;
  for (const Step& step : steps_) {
    const uint64_t rows = step.is_tail ? limits_.wanted : limits_.rows;
    for (uint32_t i : step.nodes) {
      const Node& node = graph_.nodes[i];
      mortise_plan plan{sizeof(mortise_plan), 0, 0};
      if (node.kind == NodeKind::op) {
        const Provider& p = chooser_.ops_providers()[node.provider];
        p.table<mortise_ops>().plan(p.self, step.op, rows, workers_, &plan);
      } else if (node.kind == NodeKind::linear) {
        measure_linear(node, rows, &plan);
      } else if (node.kind == NodeKind::moe_linear) {
        measure_experts(node, rows, &plan);
      }
      scratch_bytes_ = std::max(scratch_bytes_, plan.scratch_bytes);
    }
  }
  scratch_bytes_ = (scratch_bytes_ + 63) / 64 * 64;
  memory_.workspace_bytes = prepared_bytes_ + scratch_bytes_ * workers_ + expert_rows_.bytes();
  for (const Workspace& workspace : workspaces_) memory_.workspace_bytes += workspace.bytes;
}

Result<void> Program::allocate() {
  uint64_t floats = 0;
  for (const Buffer& b : buffers_) floats += b.capacity;
  arena_ = allocate_aligned(floats * sizeof(float), 64);
  prepared_ = allocate_aligned(prepared_bytes_, 64);
  scratch_ = allocate_aligned(scratch_bytes_ * workers_, 64);
  if (arena_ == nullptr || prepared_ == nullptr || scratch_ == nullptr || !expert_rows_.allocate())
    return fail(Code::no_memory, "engine.max_batch_tokens",
                "no memory for activations; lower engine.max_batch_tokens (see `mortise explain`)");
  auto* at = static_cast<float*>(arena_);
  for (Buffer& b : buffers_) {
    b.data = at;
    at += b.capacity;
  }
  for (Workspace& workspace : workspaces_) {
    workspace.memory.reset(allocate_aligned(workspace.bytes, 64));
    if (workspace.memory == nullptr)
      return fail(Code::no_memory, "engine.max_batch_tokens",
                  "no memory for the workspace of attention; lower engine.max_batch_tokens");
  }
  return {};
}

/// Room for prepared rows beyond what was measured: a scheme whose rows take more when they are spread.
Result<void> Program::reserve_prepared(uint64_t bytes) {
  if (bytes <= prepared_bytes_) return {};
  free_aligned(prepared_);
  prepared_bytes_ = bytes;
  prepared_ = allocate_aligned(bytes, 64);
  if (prepared_ != nullptr) return {};
  prepared_bytes_ = 0;
  return fail(Code::no_memory, "engine", "no memory for the rows of experts; lower engine.max_batch_tokens");
}

}  // namespace mortise
