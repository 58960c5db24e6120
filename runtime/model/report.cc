// Report: grouping of equal tensors, memory, texts. Thread rule and flow: see report.h.
#include "model/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace mortise {
namespace {

/// Runs of digits become '*': blk.0.ffn.weight and blk.1.ffn.weight have one pattern.
std::string pattern_of(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(name[i])) != 0;
    const bool again = digit && i > 0 && std::isdigit(static_cast<unsigned char>(name[i - 1])) != 0;
    if (!again) out += digit ? '*' : name[i];
  }
  return out;
}

bool same_fate(const KernelRow& row, const Weight& weight) {
  const auto equal = [](const Candidate& a, const Candidate& b) {
    return a.plugin == b.plugin && a.reason == b.reason;
  };
  return row.format == weight.desc.tensor->format && row.plugin == weight.provider->name &&
         row.why == weight.choice.why &&
         std::equal(row.candidates.begin(), row.candidates.end(), weight.choice.candidates.begin(),
                    weight.choice.candidates.end(), equal);
}

std::vector<KernelRow> group_kernels(const Model& model) {
  std::vector<KernelRow> out;
  std::vector<std::string> patterns;
  for (const Weight& w : model.weights().list()) {
    if (!w.is_packed()) continue;
    const std::string name(view(w.desc.tensor->name)), pattern = pattern_of(name);
    size_t at = 0;
    while (at < out.size() && !(patterns[at] == pattern && same_fate(out[at], w))) ++at;
    if (at == out.size()) {
      patterns.push_back(pattern);
      out.push_back({name, w.desc.tensor->format, w.provider->name, w.choice.why, w.choice.candidates});
    } else {
      out[at].tensor = pattern;
    }
    ++out[at].tensors;
    out[at].bytes += w.packed_bytes;
  }
  return out;
}

std::string size_text(uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  if (bytes >= uint64_t{1} << 30) return fmt::format("{:.2f} GiB", b / (1 << 30));
  if (bytes >= uint64_t{1} << 20) return fmt::format("{:.1f} MiB", b / (1 << 20));
  if (bytes >= uint64_t{1} << 10) return fmt::format("{:.1f} KiB", b / (1 << 10));
  return fmt::format("{} B", bytes);
}

}  // namespace

std::string kv_terms(const Graph& graph, uint64_t bytes_per_token, const char* dtype) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> layers;  // by heads, k and v sizes
  uint64_t numbers = 0;
  for (uint32_t group : graph.slot_groups) {
    const mortise_kv_group& g = graph.groups[group];
    ++layers[{g.kv_heads, g.k_dim, g.v_dim}];
    numbers += uint64_t{g.kv_heads} * (uint64_t{g.k_dim} + g.v_dim);
  }
  std::string out;
  for (const auto& [shape, count] : layers) {
    const auto& [heads, k_dim, v_dim] = shape;
    out += out.empty() ? "" : " + ";
    out += k_dim == v_dim
               ? fmt::format("2 x {} layers x {} KV heads x {} head size", count, heads, k_dim)
               : fmt::format("{} layers x {} KV heads x {} head sizes", count, heads, k_dim + v_dim);
  }
  if (numbers == 0) return "no layer keeps any";
  const double each = static_cast<double>(bytes_per_token) / static_cast<double>(numbers);
  if (layers.size() > 1) out = "(" + out + ")";
  return fmt::format("{} x {:g} bytes ({})", out, each, dtype);
}

Report make_report(const Parts& parts, const Model* model) {
  Report out;
  out.parts = parts.rows;
  if (model == nullptr) return out;
  const Graph& graph = model->graph();
  out.kernels = group_kernels(*model);
  out.weights_bytes = model->weights_bytes();
  out.kv_bytes_per_token = model->kv().block_bytes() / MORTISE_KV_BLOCK_TOKENS;
  out.kv_bytes = model->kv_blocks() * model->kv().block_bytes();
  out.activations_bytes = model->memory().activations_bytes;
  out.logits_bytes = model->memory().logits_bytes;
  out.workspace_bytes = model->memory().workspace_bytes;
  out.total_bytes =
      out.weights_bytes + out.kv_bytes + out.activations_bytes + out.logits_bytes + out.workspace_bytes;
  out.kv_terms = kv_terms(graph, out.kv_bytes_per_token, model->attention().layout->name);
  out.context_model = graph.info.context;
  out.context_used = model->context();
  out.fits_tokens = model->kv_blocks() * MORTISE_KV_BLOCK_TOKENS;
  const uint64_t blocks_each =
      (uint64_t{out.context_used} + MORTISE_KV_BLOCK_TOKENS - 1) / MORTISE_KV_BLOCK_TOKENS;
  out.fits_sequences = model->kv_blocks() / blocks_each;
  out.is_batch_invariant = model->is_batch_invariant();
  out.warnings = model->warnings();
  return out;
}

std::string report_json(const Report& r) {
  using Json = nlohmann::ordered_json;
  Json parts = Json::array(), kernels = Json::array();
  for (const PartRow& p : r.parts)
    parts.push_back({{"kind", p.kind}, {"name", p.name}, {"plugin", p.plugin}, {"why", p.why}});
  for (const KernelRow& k : r.kernels) {
    Json candidates = Json::array();
    for (const Candidate& c : k.candidates)
      candidates.push_back({{"plugin", c.plugin}, {"reason", c.reason}});
    kernels.push_back({{"tensor", k.tensor},
                       {"format", k.format},
                       {"plugin", k.plugin},
                       {"why", k.why},
                       {"candidates", candidates}});
  }
  const Json out = {{"parts", parts},
                    {"kernels", kernels},
                    {"memory",
                     {{"weights_bytes", r.weights_bytes},
                      {"kv_bytes_per_token", r.kv_bytes_per_token},
                      {"kv_bytes", r.kv_bytes},
                      {"activations_bytes", r.activations_bytes},
                      {"logits_bytes", r.logits_bytes},
                      {"workspace_bytes", r.workspace_bytes},
                      {"total_bytes", r.total_bytes}}},
                    {"context", {{"model", r.context_model}, {"used", r.context_used}}},
                    {"fits", {{"tokens", r.fits_tokens}, {"sequences", r.fits_sequences}}},
                    {"batch_invariant", r.is_batch_invariant},
                    {"warnings", r.warnings}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_text(const Report& r) {
  std::string out = "Parts\n";
  for (const PartRow& p : r.parts)
    out +=
        fmt::format("  {:<10} {:<22} {}{}\n", p.kind, p.name, p.kind == "ops" ? p.plugin + ": " : "", p.why);
  if (r.context_used == 0) return out;
  out += "\nKernels of linear weights\n";
  size_t tensor_width = 0, format_width = 0;
  for (const KernelRow& k : r.kernels) {
    tensor_width = std::max(tensor_width, k.tensor.size());
    format_width = std::max(format_width, k.format.size());
  }
  for (const KernelRow& k : r.kernels) {
    out += fmt::format("  {:<{}} {:<{}} {:>4} x {:>10}  {}\n", k.tensor, tensor_width, k.format, format_width,
                       k.tensors, size_text(k.tensors == 0 ? 0 : k.bytes / k.tensors), k.plugin);
    for (const Candidate& c : k.candidates) out += fmt::format("      {}: {}\n", c.plugin, c.reason);
  }
  const auto line = [&](const char* what, uint64_t bytes, const std::string& terms) {
    out += fmt::format("  {:<12} {:>12}{}{}\n", what, size_text(bytes), terms.empty() ? "" : "  ", terms);
  };
  out += "\nMemory\n";
  line("weights", r.weights_bytes, "as packed");
  line("KV cache", r.kv_bytes, size_text(r.kv_bytes_per_token) + " a token = " + r.kv_terms);
  line("activations", r.activations_bytes, "for engine.max_batch_tokens rows");
  line("logits", r.logits_bytes, "for the rows whose logits are made at once");
  line("workspace", r.workspace_bytes, "of kernels, all threads");
  line("total", r.total_bytes, "");
  out += fmt::format("\nContext: {} tokens of the {} that the model was trained for\n", r.context_used,
                     r.context_model);
  out += fmt::format("Fits: {} tokens in the KV cache, {} sequences of the whole context\n", r.fits_tokens,
                     r.fits_sequences);
  out += fmt::format("Batch-invariant: {}\n", r.is_batch_invariant ? "yes" : "no");
  for (const std::string& w : r.warnings) out += "Warning: " + w + "\n";
  return out;
}

}  // namespace mortise
