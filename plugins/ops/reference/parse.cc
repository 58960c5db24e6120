// ops/reference: checks of one use of an operation. Thread rule: pure, [load]. Flow: infer and bind of
// ops.cc.
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>

#include "ops.h"

namespace ops_reference {
namespace {

using mortise::Code;
using mortise::Result;

constexpr uint64_t kColsMax = uint64_t{1} << 32;  // columns of a row, far above any model's

/// Reads the attributes of one use; finish() refuses those that nobody asked for.
class Attributes {
 public:
  explicit Attributes(const mortise_op_desc& desc) : desc_(desc), used_(desc.attr_count, false) {}

  Result<const mortise_attr*> find(std::string_view name, uint32_t type, bool required) {
    for (uint32_t i = 0; i < desc_.attr_count; ++i) {
      const mortise_attr& attr = *desc_.attrs[i];
      if (attr.name != name) continue;
      used_[i] = true;
      if (attr.type != type) return bad("attribute '" + std::string(name) + "' has the wrong type");
      return &attr;
    }
    if (required) return bad("attribute '" + std::string(name) + "' is missing");
    return nullptr;
  }
  Result<float> number(std::string_view name, bool required, double fallback = 1.0) {
    MORTISE_TRY(attr, find(name, MORTISE_FLOAT, required));
    const double value = attr == nullptr ? fallback : attr->f;
    if (!std::isfinite(value)) return bad("attribute '" + std::string(name) + "' is not a finite number");
    return static_cast<float>(value);
  }
  Result<int64_t> integer(std::string_view name, bool required, int64_t fallback, int64_t low, int64_t high) {
    MORTISE_TRY(attr, find(name, MORTISE_INT, required));
    const int64_t value = attr == nullptr ? fallback : attr->i;
    if (value < low || value > high)
      return bad("attribute '" + std::string(name) + "' is " + std::to_string(value) + ", not in [" +
                 std::to_string(low) + ", " + std::to_string(high) + "]");
    return value;
  }
  Result<void> finish() const {
    for (uint32_t i = 0; i < desc_.attr_count; ++i)
      if (!used_[i]) return bad("unknown attribute '" + std::string(desc_.attrs[i]->name) + "'");
    return {};
  }
  tl::unexpected<mortise::Error> bad(std::string message) const {
    return mortise::fail(Code::bad_argument, desc_.op, std::move(message));
  }

 private:
  const mortise_op_desc& desc_;
  std::vector<bool> used_;
};

/// Vector `index` of `count` numbers, or null where it is absent.
Result<const float*> vector(const Attributes& attrs, const mortise_op_desc& desc, uint32_t index,
                            uint64_t count) {
  const mortise_op_vector* v = index < desc.vector_count ? desc.vectors[index] : nullptr;
  if (v == nullptr) return nullptr;
  if (v->count != count || v->data == nullptr)
    return attrs.bad("vector " + std::to_string(index) + " has " + std::to_string(v->count) +
                     " numbers where the width is " + std::to_string(count));
  return v->data;
}

Result<void> parse_norm(Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  const auto cols = static_cast<int64_t>(op->cols);
  MORTISE_TRY(rms, attrs.integer("rms", true, 0, 0, 1));
  MORTISE_TRY(eps, attrs.number("eps", true));
  MORTISE_TRY(width, attrs.integer("width", false, cols, 1, cols));
  if (cols % width != 0)
    return attrs.bad(std::to_string(cols) + " columns are no multiple of width " + std::to_string(width));
  if (eps < 0) return attrs.bad("attribute 'eps' is negative");
  MORTISE_TRY(weight, vector(attrs, desc, 0, static_cast<uint64_t>(width)));
  MORTISE_TRY(bias, vector(attrs, desc, 1, static_cast<uint64_t>(width)));
  op->norm = {rms == 1, eps, static_cast<size_t>(width), weight, bias};
  return {};
}

Result<void> parse_rope_table(Attributes& attrs, Op* op) {
  MORTISE_TRY(list, attrs.find("inverse_frequencies", MORTISE_LIST, true));
  MORTISE_TRY(factor, attrs.number("factor", false));
  if (list->count == 0) return attrs.bad("attribute 'inverse_frequencies' is empty");
  op->inverse_frequencies.assign(list->values, list->values + list->count);
  for (const double f : op->inverse_frequencies)
    if (!std::isfinite(f))
      return attrs.bad("attribute 'inverse_frequencies' holds a number that isn't finite");
  op->constant = factor;
  op->cols = 2 * uint64_t{list->count};
  return {};
}

Result<void> parse_rope(Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  const auto cols = static_cast<int64_t>(op->cols);
  MORTISE_TRY(head_dim, attrs.integer("head_dim", true, 0, 1, cols));
  MORTISE_TRY(dims, attrs.integer("dims", true, 0, 2, head_dim));
  MORTISE_TRY(interleaved, attrs.integer("interleaved", true, 0, 0, 1));
  if (cols % head_dim != 0)
    return attrs.bad(std::to_string(cols) + " columns are no multiple of head_dim " +
                     std::to_string(head_dim));
  if (dims % 2 != 0) return attrs.bad("attribute 'dims' is odd");
  if (desc.input_cols[1] != static_cast<uint64_t>(dims))
    return attrs.bad("the table has " + std::to_string(desc.input_cols[1]) + " columns where dims is " +
                     std::to_string(dims));
  op->rope = {static_cast<size_t>(head_dim), static_cast<size_t>(dims), interleaved == 1};
  return {};
}

Result<void> parse_activation(Attributes& attrs, Op* op) {
  static constexpr std::string_view kNames[] = {"silu", "gelu", "gelu_tanh", "relu", "relu2"};
  MORTISE_TRY(attr, attrs.find("kind", MORTISE_STRING, true));
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (attr->s != nullptr && kNames[i] == attr->s) {
      op->activation = static_cast<Activation>(i);
      return {};
    }
  return attrs.bad("activation '" + std::string(attr->s == nullptr ? "" : attr->s) +
                   "' is unknown; known are silu, gelu, gelu_tanh, relu, relu2");
}

Result<void> parse_inputs(const Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  static constexpr uint32_t kInputs[kKinds] = {1, 2, 2, 1, 1, 0, 2, 1, 2};
  const uint32_t wanted = kInputs[static_cast<size_t>(op->kind)];
  if (desc.input_count != wanted)
    return attrs.bad("has " + std::to_string(desc.input_count) + " inputs where it takes " +
                     std::to_string(wanted));
  const uint32_t vectors = op->kind == Kind::norm ? 2 : 0;
  if (desc.vector_count > vectors)
    return attrs.bad("has " + std::to_string(desc.vector_count) + " vectors where it takes at most " +
                     std::to_string(vectors));
  if (wanted == 0) return {};
  op->cols = desc.input_cols[0];
  if (op->cols == 0 || op->cols > kColsMax)
    return attrs.bad("its input has " + std::to_string(op->cols) + " columns, not 1 to " +
                     std::to_string(kColsMax));
  if (wanted == 2 && op->kind != Kind::rope && desc.input_cols[1] != op->cols)
    return attrs.bad("its inputs have " + std::to_string(op->cols) + " and " +
                     std::to_string(desc.input_cols[1]) + " columns");
  return {};
}

Result<void> parse_kind(Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  switch (op->kind) {
    case Kind::norm:
      return parse_norm(attrs, desc, op);
    case Kind::mul:
      return {};
    case Kind::add: {
      MORTISE_TRY(scale_b, attrs.number("scale_b", false));
      op->constant = scale_b;
      return {};
    }
    case Kind::scale:
    case Kind::softcap: {
      MORTISE_TRY(c, attrs.number("c", true));
      if (op->kind == Kind::softcap && c <= 0) return attrs.bad("attribute 'c' is not positive");
      op->constant = c;
      return {};
    }
    case Kind::rope_table:
      return parse_rope_table(attrs, op);
    case Kind::rope:
      return parse_rope(attrs, desc, op);
    case Kind::act:
    case Kind::act_mul:
      return parse_activation(attrs, op);
  }
  return attrs.bad("unknown operation");
}

}  // namespace

Result<Op> parse(uint32_t claim, const mortise_op_desc& desc) {
  Attributes attrs(desc);
  if (claim >= kKinds || std::string_view(desc.op) != kClaims[claim]->op)
    return attrs.bad("is not the operation of claim " + std::to_string(claim));
  Op op;
  op.kind = static_cast<Kind>(claim);
  MORTISE_CHECK(parse_inputs(attrs, desc, &op));
  MORTISE_CHECK(parse_kind(attrs, desc, &op));
  MORTISE_CHECK(attrs.finish());
  return op;
}

}  // namespace ops_reference
