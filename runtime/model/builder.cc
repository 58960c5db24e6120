// GraphBuilder: the checks behind each call. Names of tensors stand in every error.
// Thread rule: the loading thread. Flow: see builder.h.
#include "model/builder.h"

#include <algorithm>

namespace mortise {
void GraphBuilder::fail_with(Code code, std::string where, std::string message) {
  if (failed_) return;
  failed_ = true;
  error_ = Error{code, std::move(where), std::move(message)};
}

Result<Graph> GraphBuilder::finish() {
  if (!failed_ && graph_.logits == 0) fail_with(Code::internal, "graph", "the build ended without logits");
  if (!failed_ && graph_.info.size == 0) fail_with(Code::internal, "graph", "the build gave no info");
  // Token ids are checked against the vocabulary alone.
  for (const Node& node : graph_.nodes)
    if (node.kind == NodeKind::embed && graph_.matrices[node.matrix].rows < graph_.info.vocab)
      fail_with(Code::bad_data, std::string(view(graph_.matrices[node.matrix].tensor->name)),
                "has " + std::to_string(graph_.matrices[node.matrix].rows) + " rows for a vocabulary of " +
                    std::to_string(graph_.info.vocab) + "; metadata and tensors disagree");
  if (failed_) return pass(error_);
  graph_.logits -= 1;
  return std::move(graph_);
}

void GraphBuilder::set_info(const mortise_arch_info& info) {
  if (info.size < sizeof(mortise_arch_info)) return fail_with(Code::internal, "graph", "info is too small");
  graph_.info = info;
  graph_.family = info.family == nullptr ? "" : info.family;
  graph_.info.family = nullptr;  // the text is in graph_.family, which moves
}

uint32_t GraphBuilder::push(Node node) {
  if (failed_) return 0;
  if (graph_.nodes.size() >= kGraphNodesMax) {
    fail_with(Code::limit, "graph", "more than " + std::to_string(kGraphNodesMax) + " nodes");
    return 0;
  }
  if (node.cols == 0 || node.cols > kColumnsMax) {
    fail_with(Code::bad_data, "graph", "a value of " + std::to_string(node.cols) + " columns");
    return 0;
  }
  // What is behind take_rows runs several times over, chunk by chunk; the rest once, before it.
  if (!node.wanted && !graph_.nodes.empty() && graph_.nodes.back().wanted) {
    fail_with(Code::internal, "graph", "a value of all rows behind take_rows; emit it before");
    return 0;
  }
  graph_.nodes.push_back(std::move(node));
  return static_cast<uint32_t>(graph_.nodes.size());
}

bool GraphBuilder::known(uint32_t node, const char* what) {
  if (failed_) return false;
  if (node >= 1 && node <= graph_.nodes.size()) return true;
  fail_with(Code::internal, "graph", std::string(what) + " is no node of this graph");
  return false;
}

bool GraphBuilder::columns(uint32_t node, uint64_t cols, const char* what) {
  if (!known(node, what)) return false;
  const uint64_t have = graph_.nodes[node - 1].cols;
  if (have == cols) return true;
  fail_with(Code::bad_data, "graph",
            std::string(what) + " has " + std::to_string(have) + " columns instead of " +
                std::to_string(cols) + "; metadata and tensors disagree");
  return false;
}

uint32_t GraphBuilder::vector(std::string_view name, uint64_t count, bool needed) {
  if (failed_) return 0;
  const mortise_tensor* tensor = hooks_.tensor(name);
  if (tensor == nullptr) {
    if (needed)
      fail_with(Code::bad_data, std::string(name), "the model has no such tensor; the file is incomplete");
    return 0;
  }
  auto known_id = vector_ids_.find(std::string(name));
  if (known_id != vector_ids_.end()) return known_id->second;
  uint64_t elements = 1;
  for (uint32_t d = 0; d < tensor->rank; ++d) elements *= tensor->shape[d];
  if (elements != count || count > kVectorElementsMax) {
    fail_with(Code::bad_data, std::string(name),
              "has " + std::to_string(elements) + " elements instead of " + std::to_string(count) +
                  "; metadata and tensors disagree");
    return 0;
  }
  Result<std::vector<float>> values = hooks_.values(*tensor);
  if (!values) {
    fail_with(values.error().code, values.error().where, values.error().message);
    return 0;
  }
  graph_.vectors.push_back(std::move(*values));
  const auto id = static_cast<uint32_t>(graph_.vectors.size());
  vector_ids_.emplace(std::string(name), id);
  return id;
}

uint32_t GraphBuilder::constant(const float* data, uint64_t count) {
  if (failed_) return 0;
  if (count == 0 || count > kVectorElementsMax) {
    fail_with(Code::limit, "graph", "a constant of " + std::to_string(count) + " elements");
    return 0;
  }
  graph_.vectors.emplace_back(data, data + count);
  return static_cast<uint32_t>(graph_.vectors.size());
}

const float* GraphBuilder::vector_data(uint32_t id) {
  return id >= 1 && id <= graph_.vectors.size() ? graph_.vectors[id - 1].data() : nullptr;
}

uint32_t GraphBuilder::view_columns(uint32_t x, uint64_t column0, uint64_t columns) {
  if (!known(x, "the input of a view")) return 0;
  const Node& from = graph_.nodes[x - 1];
  if (columns > from.cols || column0 > from.cols - columns) {
    fail_with(Code::bad_data, "graph", "a view of columns behind the end");
    return 0;
  }
  Node node{NodeKind::view, columns, from.wanted, {x - 1}};
  node.column0 = column0;
  return push(std::move(node));
}

uint32_t GraphBuilder::kv_group(const mortise_kv_group& group) {
  if (failed_) return 0;
  if (group.kv_heads == 0 || group.k_dim == 0 || group.v_dim == 0 ||
      graph_.groups.size() >= kGraphGroupsMax) {
    fail_with(Code::bad_data, "graph", "a KV group without heads, or too many groups");
    return 0;
  }
  graph_.groups.push_back(group);
  return static_cast<uint32_t>(graph_.groups.size());
}

uint32_t GraphBuilder::kv_slot(uint32_t group) {
  if (failed_) return 0;
  if (group < 1 || group > graph_.groups.size() || graph_.slot_groups.size() >= kGraphSlotsMax) {
    fail_with(Code::bad_data, "graph", "a KV slot of no group, or too many slots");
    return 0;
  }
  graph_.slot_groups.push_back(group - 1);
  return static_cast<uint32_t>(graph_.slot_groups.size());
}

}  // namespace mortise
