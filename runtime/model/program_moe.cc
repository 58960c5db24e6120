// Program: the weights of a mixture of experts. Rows are gathered by expert, each expert's claim runs on its
// own rows, all experts in one region, and the results go back to their rows.
// Thread rule: the engine thread; tasks on the pool's workers. Flow: see program.h.
#include <cassert>
#include <cstring>

#include "model/program_run.h"

namespace mortise {

/// Rows of the experts whose claims take x in a form of their own, in one region. Each expert has a place of
/// its own for them: a form may interleave the rows of one call.
Result<void> Program::Run::prepare_experts(std::vector<LinearPart>* parts) {
  struct Piece {
    LinearPart* part;
    uint64_t offset;
    uint32_t tasks, end;
  };
  std::vector<Piece> pieces;
  uint64_t bytes = 0;
  uint32_t end = 0;
  for (LinearPart& part : *parts) {
    const Weight& w = *part.weight;
    if (!w.is_prepared()) continue;
    void* self = w.provider->self;
    const uint64_t m = part.args.m, k = w.desc.k;
    const uint32_t tasks = w.calls->act_tasks(self, w.choice.claim, m, k, program.workers_);
    pieces.push_back({&part, bytes, tasks, end += tasks});
    bytes += (w.calls->act_bytes(self, w.choice.claim, m, k) + 63) / 64 * 64;
  }
  if (pieces.empty()) return {};
  MORTISE_CHECK(program.reserve_prepared(bytes));
  auto* base = static_cast<uint8_t*>(program.prepared_);
  parallel(end, [&](uint32_t task, uint32_t) {
    const Piece& piece = *std::upper_bound(pieces.begin(), pieces.end(), task,
                                           [](uint32_t t, const Piece& p) { return t < p.end; });
    const Weight& w = *piece.part->weight;
    const mortise_linear_args& args = piece.part->args;
    w.calls->act_prepare(w.provider->self, w.choice.claim, static_cast<const float*>(args.x), args.x_stride,
                         args.m, w.desc.k, base + piece.offset, task - (piece.end - piece.tasks),
                         piece.tasks);
  });
  for (const Piece& piece : pieces) piece.part->args.x = base + piece.offset;
  return {};
}

Result<void> Program::Run::moe_linear(const Step& step) {
  const uint32_t at = step.nodes[0];
  const Node& node = program.graph_.nodes[at];
  const uint32_t x = node.inputs[0], routing = node.inputs[1];
  const auto count = static_cast<uint32_t>(node.experts.size());
  const uint64_t chosen = program.graph_.nodes[routing].cols / 2, n = node.cols / chosen;
  const uint64_t k = program.weights_.list()[node.experts[0]].desc.k;
  const bool has_own_input = program.graph_.nodes[x].cols != k;  // each route has a part of the row
  ExpertRows& grouped = program.expert_rows_;
  grouped.group(data(routing), stride(routing), rows, chosen, count);
  parallel_rows(grouped.routes(), [&](uint64_t first, uint64_t routes, uint32_t) {
    for (uint64_t route = first; route < first + routes; ++route) {
      const uint64_t row = grouped.place(route) / chosen, part = grouped.place(route) % chosen;
      std::memcpy(grouped.inputs() + route * k, data(x) + row * stride(x) + (has_own_input ? part * k : 0),
                  k * sizeof(float));
    }
  });
  std::vector<LinearPart> parts;
  uint32_t tasks = 0;
  for (uint32_t expert = 0; expert < count; ++expert) {
    const uint64_t first = grouped.first(expert), m = grouped.first(expert + 1) - first;
    if (m == 0) continue;
    if (program.activation_sums_.is_on())
      program.activation_sums_.add(node.experts[expert], grouped.inputs() + first * k, k, m, pool);
    const Weight& w = program.weights_.list()[node.experts[expert]];
    mortise_plan plan{sizeof(mortise_plan), 0, 0};
    w.calls->plan(w.provider->self, w.choice.claim, &w.desc, m, program.workers_, &plan);
    assert(plan.scratch_bytes <= program.scratch_bytes_);
    const float* bias = node.bias == 0 ? nullptr : program.graph_.vectors[node.bias - 1].data() + expert * n;
    parts.push_back({&w,
                     {sizeof(mortise_linear_args), plan.tasks, m, grouped.inputs() + first * k, k,
                      grouped.results() + first * n, n, bias, nullptr, 0},
                     tasks += plan.tasks});
  }
  MORTISE_CHECK(prepare_experts(&parts));
  run_parts(parts.data(), parts.size());
  parallel_rows(grouped.routes(), [&](uint64_t first, uint64_t routes, uint32_t) {
    for (uint64_t route = first; route < first + routes; ++route) {
      const uint64_t row = grouped.place(route) / chosen, part = grouped.place(route) % chosen;
      std::memcpy(data(at) + row * stride(at) + part * n, grouped.results() + route * n, n * sizeof(float));
    }
  });
  return {};
}

}  // namespace mortise
