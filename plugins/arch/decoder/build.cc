// Build: what every part of the graph uses. Thread rule and flow: see build.h.
#include "build.h"

namespace decoder {

using mortise::str;

mortise_attr integer(const char* name, int64_t value) {
  return {name, MORTISE_INT, 0, value, 0, nullptr, nullptr};
}
mortise_attr number(const char* name, double value) {
  return {name, MORTISE_FLOAT, 0, 0, value, nullptr, nullptr};
}
mortise_attr text(const char* name, const char* value) {
  return {name, MORTISE_STRING, 0, 0, 0, value, nullptr};
}
mortise_attr list(const char* name, const std::vector<double>& values) {
  return {name, MORTISE_LIST, static_cast<uint32_t>(values.size()), 0, 0, nullptr, values.data()};
}

Build::Build(const mortise_model& model, const mortise_builder& builder, fam::Hyperparams hyperparams)
    : model_(model), b_(builder), h_(std::move(hyperparams)), names_(model, *h_.family, h_.dialect) {}

mortise_node Build::op(const char* id, std::vector<mortise_node> inputs, std::vector<mortise_attr> attrs,
                       std::vector<mortise_vector> vectors) {
  const mortise_op_use use{sizeof(use),
                           static_cast<uint32_t>(inputs.size()),
                           static_cast<uint32_t>(vectors.size()),
                           static_cast<uint32_t>(attrs.size()),
                           id,
                           inputs.data(),
                           vectors.data(),
                           attrs.data()};
  return b_.op(b_.ctx, &use);
}

mortise_node Build::add(mortise_node a, mortise_node b, double scale_b) {
  if (scale_b == 1) return op("mortise.add/1", {a, b}, {});
  return op("mortise.add/1", {a, b}, {number("scale_b", scale_b)});
}

mortise_node Build::scale(mortise_node x, double by) {
  return by == 1 ? x : op("mortise.scale/1", {x}, {number("c", by)});
}

mortise_node Build::norm(mortise_node x, Role role, uint32_t width) {
  const std::string gain = name(role);
  if (gain.empty()) return x;
  mortise_vector weight = vector(gain, width, true);
  const float* stored = weight == 0 ? nullptr : b_.vector_data(b_.ctx, weight);
  if (stored != nullptr && h_.dialect == fam::Dialect::hf && h_.family->has(fam::kPlusOne)) {
    std::vector<float> whole(stored, stored + width);
    for (float& value : whole) value += 1;
    weight = b_.constant(b_.ctx, whole.data(), whole.size());
  }
  const bool is_layer_norm = h_.family->has(fam::kLayerNorm);
  std::vector<mortise_vector> vectors{weight};
  if (is_layer_norm) vectors.push_back(vector(fam::bias_name(gain), width, false));
  return op("mortise.norm/1", {x},
            {integer("rms", is_layer_norm ? 0 : 1), number("eps", h_.norm_eps), integer("width", width)},
            std::move(vectors));
}

mortise_matrix Build::matrix(const std::string& tensor, uint64_t k, uint32_t flags, uint64_t row0,
                             uint64_t rows) {
  const mortise_matrix_source source{sizeof(source), flags, str(tensor), row0, rows, k};
  return b_.matrix(b_.ctx, &source);
}

mortise_vector Build::vector(const std::string& tensor, uint64_t count, bool needed) {
  return b_.vector(b_.ctx, str(tensor), count, needed);
}

Build::Weight Build::weight(Role role, uint64_t rows, uint64_t k, bool needs_bias) {
  const std::string tensor = name(role);
  const bool is_transposed =
      h_.dialect == fam::Dialect::hf && h_.family->has(fam::kTransposed) && fam::is_transposed(role);
  const uint64_t have = rows_of(tensor, is_transposed);
  if (have != 0 && have != rows)
    b_.fail(b_.ctx, MORTISE_BAD_DATA, str(tensor),
            str("has " + std::to_string(have) + " rows instead of " + std::to_string(rows) +
                "; metadata and tensors disagree"));
  Weight out;
  out.matrix = matrix(tensor, k, is_transposed ? MORTISE_MATRIX_TRANSPOSED : 0);
  out.bias = vector(fam::bias_name(tensor), rows, needs_bias);
  return out;
}

uint64_t Build::rows_of(const std::string& tensor, bool is_transposed) const {
  const mortise_tensor* found = names_.tensor(tensor);
  if (found == nullptr || found->rank < 2) return found == nullptr ? 0 : 1;
  return found->shape[is_transposed ? found->rank - 1 : found->rank - 2];
}

}  // namespace decoder
