// GraphBuilder: operations, attention and the end of the graph.
// Thread rule: the loading thread. Flow: see builder.h.
#include <algorithm>

#include "model/builder.h"

namespace mortise {
namespace {

constexpr uint32_t kOpInputsMax = 8;
constexpr uint32_t kOpAttrsMax = 32;

/// A copy of an attribute whose texts and lists belong to the graph.
mortise_attr keep(const mortise_attr& attr, Graph* graph) {
  const auto text = [&](const char* from) {
    return from == nullptr ? nullptr : graph->texts.emplace_back(from).c_str();
  };
  mortise_attr out = attr;
  out.name = text(attr.name);
  out.s = text(attr.s);
  if (attr.values != nullptr)
    out.values = graph->lists.emplace_back(attr.values, attr.values + attr.count).data();
  return out;
}

}  // namespace

uint32_t GraphBuilder::op(const mortise_op_use& use) {
  if (failed_) return 0;
  if (use.op == nullptr || use.input_count > kOpInputsMax || use.vector_count > kOpInputsMax ||
      use.attr_count > kOpAttrsMax) {
    fail_with(Code::internal, "graph", "an operation without a name or with too many inputs");
    return 0;
  }
  Node node{NodeKind::op};
  node.op = use.op;
  std::vector<uint64_t> cols;
  for (uint32_t i = 0; i < use.input_count; ++i) {
    if (!known(use.inputs[i], "an input of an operation")) return 0;
    const Node& input = graph_.nodes[use.inputs[i] - 1];
    if (i > 0 && input.wanted != node.wanted) {
      fail_with(Code::internal, use.op, "mixes wanted rows with all rows");
      return 0;
    }
    node.wanted = input.wanted;
    node.inputs.push_back(use.inputs[i] - 1);
    cols.push_back(input.cols);
  }
  std::vector<mortise_op_vector> vectors(use.vector_count, {sizeof(mortise_op_vector)});
  std::vector<const mortise_op_vector*> vector_pointers;
  for (uint32_t i = 0; i < use.vector_count; ++i) {
    const uint32_t id = use.vectors[i];
    if (id > graph_.vectors.size()) {
      fail_with(Code::internal, use.op, "a constant that is not of this graph");
      return 0;
    }
    node.vectors.push_back(id);
    if (id != 0)
      vectors[i] = {sizeof(mortise_op_vector), 0, graph_.vectors[id - 1].size(),
                    graph_.vectors[id - 1].data()};
    vector_pointers.push_back(id == 0 ? nullptr : &vectors[i]);
  }
  std::vector<const mortise_attr*> attr_pointers;
  for (uint32_t i = 0; i < use.attr_count; ++i) node.attrs.push_back(keep(use.attrs[i], &graph_));
  for (const mortise_attr& attr : node.attrs) attr_pointers.push_back(&attr);
  const mortise_op_desc desc{sizeof(mortise_op_desc), use.input_count,       use.attr_count,
                             use.vector_count,        node.op.c_str(),       cols.data(),
                             attr_pointers.data(),    vector_pointers.data()};
  Result<BuilderHooks::Op> chosen = hooks_.op(desc);
  if (!chosen) {
    fail_with(chosen.error().code, chosen.error().where, chosen.error().message);
    return 0;
  }
  node.provider = chosen->provider;
  node.claim = chosen->claim;
  node.cols = chosen->cols;
  return push(std::move(node));
}

uint32_t GraphBuilder::attention(uint32_t slot, const mortise_attention_layer& layer, uint32_t q, uint32_t k,
                                 uint32_t v) {
  if (failed_) return 0;
  if (slot < 1 || slot > graph_.slot_groups.size() || (k == 0) != (v == 0)) {
    fail_with(Code::internal, "graph", "attention over no KV slot, or with k but without v");
    return 0;
  }
  const mortise_kv_group& group = graph_.groups[graph_.slot_groups[slot - 1]];
  if (layer.size < sizeof(layer) || layer.kv_heads != group.kv_heads || layer.k_dim != group.k_dim ||
      layer.v_dim != group.v_dim || layer.heads == 0 || layer.heads % layer.kv_heads != 0) {
    fail_with(Code::bad_data, "graph",
              "attention with " + std::to_string(layer.heads) + " heads over " +
                  std::to_string(group.kv_heads) + " KV heads; the heads must be a multiple");
    return 0;
  }
  if (group.window != 0 && (layer.window == 0 || layer.window > group.window)) {
    fail_with(Code::internal, "graph", "attention to more than the window of its KV group");
    return 0;
  }
  if (!columns(q, uint64_t{layer.heads} * layer.k_dim, "q")) return 0;
  Node node{NodeKind::attention, uint64_t{layer.heads} * layer.v_dim, false, {q - 1}};
  node.writes = k != 0;
  if (node.writes) {
    if (!columns(k, uint64_t{layer.kv_heads} * layer.k_dim, "k")) return 0;
    if (!columns(v, uint64_t{layer.kv_heads} * layer.v_dim, "v")) return 0;
    node.inputs.push_back(k - 1);
    node.inputs.push_back(v - 1);
  }
  if (std::any_of(node.inputs.begin(), node.inputs.end(),
                  [&](uint32_t i) { return graph_.nodes[i].wanted; })) {
    fail_with(Code::internal, "graph", "attention over wanted rows only");
    return 0;
  }
  node.slot = slot - 1;
  node.layer = layer;
  node.layer.size = sizeof(layer);
  return push(std::move(node));
}

uint32_t GraphBuilder::take_rows(uint32_t x) {
  if (!known(x, "the input of take_rows")) return 0;
  if (graph_.nodes[x - 1].wanted) {
    fail_with(Code::internal, "graph", "take_rows twice");
    return 0;
  }
  Node node{NodeKind::take_rows, graph_.nodes[x - 1].cols, true, {x - 1}};
  return push(std::move(node));
}

void GraphBuilder::logits(uint32_t x) {
  if (!known(x, "logits")) return;
  if (!graph_.nodes[x - 1].wanted || graph_.nodes[x - 1].cols != graph_.info.vocab)
    return fail_with(Code::bad_data, "graph",
                     "logits of " + std::to_string(graph_.nodes[x - 1].cols) +
                         " columns for a vocabulary of " + std::to_string(graph_.info.vocab));
  if (x != graph_.nodes.size()) return fail_with(Code::internal, "graph", "nodes behind the logits");
  graph_.logits = x;
}

}  // namespace mortise
