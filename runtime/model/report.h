// The data of an explain report, and its two texts.
// Thread rule: plain data. Flow: Model -> Report -> JSON or a text for people.
#pragma once
#include <string>
#include <vector>

#include "model/model.h"
#include "model/parts.h"

namespace mortise {

/// Weights of equal format and fate; `tensor` is a name, or a pattern where there are several.
struct KernelRow {
  std::string tensor, format, plugin, why;
  std::vector<Candidate> candidates;
  uint64_t tensors = 0, bytes = 0;
};

struct Report {
  std::vector<PartRow> parts;
  std::vector<KernelRow> kernels;
  uint64_t weights_bytes = 0, kv_bytes_per_token = 0, kv_bytes = 0, activations_bytes = 0, logits_bytes = 0,
           workspace_bytes = 0, total_bytes = 0;
  std::string kv_terms;  // how the bytes per token come about
  uint32_t context_model = 0, context_used = 0;
  uint64_t fits_tokens = 0, fits_sequences = 0;
  bool is_batch_invariant = false;
  std::vector<std::string> warnings;
};

/// The terms of the KV's bytes per token: layers of equal shape together, whatever they attend to, and the
/// bytes of one number as laid out.
std::string kv_terms(const Graph& graph, uint64_t bytes_per_token, const char* dtype);

/// Without a model (a tool that needs none): parts only.
Report make_report(const Parts& parts, const Model* model);
std::string report_json(const Report& report);
std::string report_text(const Report& report);

}  // namespace mortise
