// The graph of a model as its arch plugin emitted it: nodes in order, weights, constants, KV groups.
// Thread rule: plain data, made once at load. Flow: GraphBuilder fills it, the chooser and Program read it.
#pragma once
#include <mortise/arch.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace mortise {

/// Slices of a stored tensor [..][k][n] as if they were stored [..][n][k]. The plane names the bytes of those
/// slices as they lie in the file, not yet transposed.
struct TransposedTensor {
  mortise_tensor tensor{};
  mortise_plane plane{};
  const mortise_plane* planes[1] = {&plane};
};

/// Rows [row0, row0 + rows) of a tensor with k columns.
struct Matrix {
  const mortise_tensor* tensor = nullptr;
  uint64_t row0 = 0, rows = 0, k = 0;
  uint64_t slice = 0;          // of the stored tensor of rank 3 that holds row0
  bool is_transposed = false;  // `tensor` is one of Graph::transposed
  bool is_weight = false;      // a linear reads it: it is packed
  bool is_table = false;       // an embedding reads its rows
  bool has_bias = false;
};

enum class NodeKind { embed, embed_positions, op, linear, moe_linear, view, attention, take_rows };

/// A value [rows][cols] and how it is made. `inputs` are earlier nodes.
struct Node {
  NodeKind kind = NodeKind::op;
  uint64_t cols = 0;
  bool wanted = false;  // has the wanted rows only
  std::vector<uint32_t> inputs;

  std::string op;  // op: id, constants, and the chosen provider and claim
  std::vector<mortise_attr> attrs;
  std::vector<uint32_t> vectors;  // index + 1, 0: absent
  uint32_t provider = 0, claim = 0;

  uint32_t matrix = 0;            // embed, embed_positions, linear
  std::vector<uint32_t> experts;  // moe_linear: matrices; inputs are x and the routing
  uint32_t bias = 0;              // linear, moe_linear: vector index + 1, 0: none
  uint32_t group = 0;             // linear: nodes of one group share x and run together
  uint64_t column0 = 0;           // view
  uint32_t slot = 0;              // attention
  bool writes = true;             // attention: appends k and v (inputs 1 and 2) before it reads
  mortise_attention_layer layer{};
};

struct Graph {
  mortise_arch_info info{};
  std::string family;
  std::vector<Matrix> matrices;
  std::deque<TransposedTensor> transposed;
  std::deque<std::vector<float>> vectors;
  std::vector<mortise_kv_group> groups;
  std::vector<uint32_t> slot_groups;  // of each slot
  std::vector<Node> nodes;
  uint32_t logits = 0;     // index of the last node
  uint64_t positions = 0;  // rows of the shortest table by position; 0: there is none
  // What attributes point to: they outlive the plugin that gave them.
  std::deque<std::string> texts;
  std::deque<std::vector<double>> lists;
};

}  // namespace mortise
