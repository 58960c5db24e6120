// GraphBuilder: matrices of tensors, and the nodes that read them.
// Thread rule: the loading thread. Flow: see builder.h.
#include <algorithm>

#include "model/builder.h"

namespace mortise {

uint32_t GraphBuilder::matrix(const mortise_matrix_source& source) {
  if (failed_) return 0;
  const std::string name(view(source.tensor));
  const mortise_tensor* tensor = hooks_.tensor(name);
  if (tensor == nullptr) {
    fail_with(Code::bad_data, name, "the model has no such tensor; the file is incomplete");
    return 0;
  }
  const bool is_transposed = (source.flags & MORTISE_MATRIX_TRANSPOSED) != 0;
  const uint32_t least = is_transposed ? 2 : 1;
  if (tensor->rank < least || tensor->rank > 3) {
    fail_with(
        Code::bad_data, name,
        "has " + std::to_string(tensor->rank) + " dimensions instead of " + std::to_string(least) + " to 3");
    return 0;
  }
  const uint64_t slices = tensor->rank == 3 ? tensor->shape[0] : 1;
  // A vector is a matrix of one row.
  uint64_t n = tensor->rank == 1 ? 1 : tensor->shape[tensor->rank - 2], k = tensor->shape[tensor->rank - 1];
  if (is_transposed) std::swap(n, k);
  const uint64_t have = slices * n, row0 = source.row0;
  uint64_t rows = source.rows;
  if (rows == 0 && row0 < have) rows = have - row0;
  if (row0 > have || rows > have - row0 || rows == 0 || (source.k != 0 && source.k != k)) {
    fail_with(Code::bad_data, name,
              "has " + std::to_string(have) + " rows of " + std::to_string(k) + " columns" +
                  (is_transposed ? ", transposed" : "") + "; needed are rows " + std::to_string(row0) +
                  " to " + std::to_string(row0 + rows) + " of " + std::to_string(source.k) +
                  " columns; metadata and tensors disagree");
    return 0;
  }
  auto [at, is_new] = matrix_ids_.try_emplace({name, row0, rows, is_transposed}, 0);
  if (!is_new) return at->second;
  Matrix made{tensor, row0, rows, k, row0 / n, is_transposed};
  if (is_transposed) transpose(&made);
  graph_.matrices.push_back(made);
  at->second = static_cast<uint32_t>(graph_.matrices.size());
  return failed_ ? 0 : at->second;
}

/// Lets the matrix read the slices that hold its rows, transposed; an expert needs its own slice only.
void GraphBuilder::transpose(Matrix* matrix) {
  const mortise_tensor& stored = *matrix->tensor;
  const std::string name(view(stored.name));
  Result<const mortise_format*> format = hooks_.format(stored);
  if (!format) return fail_with(format.error().code, format.error().where, format.error().message);
  if ((*format)->block_elements != 1 || stored.plane_count != 1)
    return fail_with(Code::unsupported, name,
                     std::string("is stored as ") + stored.format +
                         ", in blocks of several elements, and transposed; store it as single numbers");
  const uint64_t n = stored.shape[stored.rank - 1];
  const uint64_t first = matrix->row0 / n, count = (matrix->row0 + matrix->rows - 1) / n - first + 1;
  matrix->row0 -= first * n;
  const mortise_tensor*& known = transposed_[{name, first, count}];
  if (known == nullptr) {
    TransposedTensor& made = graph_.transposed.emplace_back();
    const uint64_t slice_bytes = n * matrix->k * (*format)->block_bytes;
    made.plane = *stored.planes[0];
    made.plane.offset += first * slice_bytes;
    made.plane.length = count * slice_bytes;
    made.tensor = stored;
    made.tensor.shape[stored.rank - 2] = n;
    made.tensor.shape[stored.rank - 1] = matrix->k;
    if (stored.rank == 3) made.tensor.shape[0] = count;
    made.tensor.planes = made.planes;
    known = &made.tensor;
  }
  matrix->tensor = known;
}

Matrix* GraphBuilder::known_matrix(uint32_t id, const char* what) {
  if (failed_) return nullptr;
  if (id >= 1 && id <= graph_.matrices.size()) return &graph_.matrices[id - 1];
  fail_with(Code::internal, "graph", std::string(what) + " is no matrix of this graph");
  return nullptr;
}

/// Rows of a table are read where the file has them, so that it cannot be transposed.
uint32_t GraphBuilder::push_table(NodeKind kind, uint32_t table) {
  Matrix* matrix = known_matrix(table, "the embedding table");
  if (matrix == nullptr) return 0;
  if (matrix->is_transposed) {
    fail_with(Code::unsupported, std::string(view(matrix->tensor->name)),
              "is a table of embeddings and cannot be read transposed");
    return 0;
  }
  matrix->is_table = true;
  Node node{kind, matrix->k};
  node.matrix = table - 1;
  return push(std::move(node));
}

uint32_t GraphBuilder::embed(uint32_t table) { return push_table(NodeKind::embed, table); }

uint32_t GraphBuilder::embed_positions(uint32_t table) {
  const uint32_t node = push_table(NodeKind::embed_positions, table);
  if (node == 0) return 0;
  const uint64_t rows = graph_.matrices[table - 1].rows;
  graph_.positions = graph_.positions == 0 ? rows : std::min(graph_.positions, rows);
  return node;
}

/// Is `bias` absent, or one number for each row of `count` matrices like `first`?
bool GraphBuilder::takes_bias(const Matrix& first, uint64_t count, uint32_t bias) {
  if (bias == 0 || (bias <= graph_.vectors.size() && graph_.vectors[bias - 1].size() == count * first.rows))
    return true;
  fail_with(Code::bad_data, std::string(view(first.tensor->name)), "its bias has another number of elements");
  return false;
}

uint32_t GraphBuilder::linear(uint32_t x, uint32_t w, uint32_t bias, uint32_t group) {
  Matrix* matrix = known_matrix(w, "a linear weight");
  if (matrix == nullptr || !columns(x, matrix->k, "the input of a linear weight") ||
      !takes_bias(*matrix, 1, bias))
    return 0;
  matrix->is_weight = true;
  matrix->has_bias = matrix->has_bias || bias != 0;
  Node node{NodeKind::linear, matrix->rows, graph_.nodes[x - 1].wanted, {x - 1}};
  node.matrix = w - 1;
  node.bias = bias;
  node.group = group != 0 ? group : next_group_++;
  return push(std::move(node));
}

void GraphBuilder::linear_group(uint32_t x, uint32_t count, const uint32_t* w, const uint32_t* bias,
                                uint32_t* out) {
  if (count == 0 || count > kLinearGroupMax || w == nullptr || out == nullptr)
    return fail_with(Code::internal, "graph",
                     "a linear group of " + std::to_string(count) + " weights; 1 to " +
                         std::to_string(kLinearGroupMax) + " are possible");
  const uint32_t group = next_group_++;
  for (uint32_t i = 0; i < count; ++i) out[i] = linear(x, w[i], bias == nullptr ? 0 : bias[i], group);
}

uint32_t GraphBuilder::moe_linear(uint32_t x, uint32_t routing, uint32_t count, const uint32_t* experts,
                                  uint32_t bias) {
  if (!known(x, "the input of experts") || !known(routing, "the routing of experts")) return 0;
  const Node &input = graph_.nodes[x - 1], &routes = graph_.nodes[routing - 1];
  const uint64_t chosen = routes.cols / 2;
  if (count == 0 || count > kExpertsMax || experts == nullptr || routes.cols % 2 != 0 || chosen == 0 ||
      chosen > count || input.wanted != routes.wanted) {
    fail_with(Code::bad_data, "graph",
              "a mixture of " + std::to_string(count) + " experts with a routing of " +
                  std::to_string(routes.cols) + " columns; 1 to " + std::to_string(kExpertsMax) +
                  " experts are possible, and at most all of them for each row");
    return 0;
  }
  Node node{NodeKind::moe_linear, 0, input.wanted, {x - 1, routing - 1}};
  const Matrix* first = known_matrix(experts[0], "the weight of an expert");
  for (uint32_t e = 0; e < count; ++e) {
    Matrix* matrix = known_matrix(experts[e], "the weight of an expert");
    if (matrix == nullptr) return 0;
    if (matrix->rows != first->rows || matrix->k != first->k) {
      fail_with(Code::bad_data, std::string(view(matrix->tensor->name)),
                "an expert has another shape than the others");
      return 0;
    }
    matrix->is_weight = true;
    matrix->has_bias = matrix->has_bias || bias != 0;
    node.experts.push_back(experts[e] - 1);
  }
  if (input.cols != chosen * first->k && !columns(x, first->k, "the input of experts")) return 0;
  if (!takes_bias(*first, count, bias)) return 0;
  node.cols = chosen * first->rows;
  node.bias = bias;
  return push(std::move(node));
}

}  // namespace mortise
