// ops/reference: checks of one use of an operation. Thread rule: pure, [load]. Flow: infer and bind of
// ops.cc.
#include "attributes.h"
#include "ops.h"

namespace ops_reference {
namespace {

constexpr uint64_t kColsMax = uint64_t{1} << 32;  // columns of a row, far above any model's
constexpr int64_t kExpertsMax = 65536;            // of a router; their numbers are exact as float32

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
  MORTISE_TRY(frequencies, attrs.list("inverse_frequencies", true));
  MORTISE_TRY(factor, attrs.number("factor", false));
  MORTISE_TRY(long_from, attrs.integer("long_from", false, UINT32_MAX, 1, UINT32_MAX));
  MORTISE_TRY(long_frequencies, attrs.list("long_inverse_frequencies", false));
  MORTISE_TRY(dynamic, attrs.number("dynamic_factor", false, 0.0));
  if (!long_frequencies.empty() && long_frequencies.size() != frequencies.size())
    return attrs.bad("'inverse_frequencies' and 'long_inverse_frequencies' have other lengths");
  if (dynamic < 0) return attrs.bad("attribute 'dynamic_factor' is negative");
  const int ways = (long_frequencies.empty() ? 0 : 1) + (dynamic > 0 ? 1 : 0);
  if (ways != (long_from == UINT32_MAX ? 0 : 1))
    return attrs.bad("'long_from' goes with 'long_inverse_frequencies' or with 'dynamic_factor'");
  op->constant = factor;
  op->cols = 2 * frequencies.size();
  op->rope_table = {std::move(frequencies), std::move(long_frequencies), dynamic,
                    static_cast<uint32_t>(long_from)};
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

// In the order of Activation; act_mul knows one more.
constexpr std::string_view kActivations[] = {"silu", "gelu", "gelu_tanh", "relu", "relu2"};
constexpr std::string_view kGates[] = {"silu", "gelu", "gelu_tanh", "relu", "relu2", "swiglu_clamped"};

Result<void> parse_act(Attributes& attrs, Op* op) {
  MORTISE_TRY(kind, attrs.choice("kind", kActivations));
  op->activation = static_cast<Activation>(kind);
  return {};
}

Result<void> parse_act_mul(Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  MORTISE_TRY(kind, attrs.choice("kind", kGates));
  op->gate.is_clamped = kGates[kind] == "swiglu_clamped";
  if (op->gate.is_clamped) {
    MORTISE_TRY(alpha, attrs.number("alpha", true));
    MORTISE_TRY(limit, attrs.number("limit", true));
    if (limit <= 0) return attrs.bad("attribute 'limit' is not positive");
    op->gate.alpha = alpha;
    op->gate.limit = limit;
  } else {
    op->gate.kind = static_cast<Activation>(kind);
  }
  op->gate.is_paired = desc.input_count == 1;
  if (!op->gate.is_paired) return {};
  if (op->cols % 2 != 0) return attrs.bad("its one input has an odd number of columns");
  op->cols /= 2;
  return {};
}

Result<void> parse_mul(Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  MORTISE_TRY(sigmoid_b, attrs.integer("sigmoid_b", false, 0, 0, 1));
  op->mul = {desc.input_cols[1] == 1 && op->cols != 1, sigmoid_b == 1};
  return {};
}

Result<void> parse_router(Attributes& attrs, Op* op) {
  static constexpr std::string_view kSoftmax[] = {"before", "after"};
  const auto experts = static_cast<int64_t>(op->cols);
  if (experts > kExpertsMax)
    return attrs.bad(std::to_string(experts) + " experts; at most " + std::to_string(kExpertsMax) +
                     " are possible");
  MORTISE_TRY(top_k, attrs.integer("top_k", true, 0, 1, experts));
  MORTISE_TRY(softmax, attrs.choice("softmax", kSoftmax));
  MORTISE_TRY(renormalize, attrs.integer("renormalize", true, 0, 0, 1));
  MORTISE_TRY(scale, attrs.number("scale", false));
  op->router = {static_cast<size_t>(experts), static_cast<size_t>(top_k), softmax == 0, renormalize == 1,
                scale};
  op->cols = 2 * static_cast<uint64_t>(top_k);
  return {};
}

Result<void> parse_moe_combine(const Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  const uint64_t routing = desc.input_cols[1], parts = routing / 2;
  if (routing == 0 || routing % 2 != 0 || op->cols % parts != 0)
    return attrs.bad(std::to_string(op->cols) + " columns and a routing of " + std::to_string(routing) +
                     " do not belong together");
  op->parts = parts;
  op->cols /= parts;
  return {};
}

Result<void> parse_inputs(const Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  static constexpr uint32_t kInputs[kKinds] = {1, 2, 2, 1, 1, 0, 2, 1, 2, 1, 2};
  const uint32_t wanted = kInputs[static_cast<size_t>(op->kind)];
  const bool is_pair = op->kind == Kind::act_mul && desc.input_count == 1;
  if (desc.input_count != wanted && !is_pair)
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
  const bool is_even = op->kind == Kind::add || op->kind == Kind::act_mul ||
                       (op->kind == Kind::mul && desc.input_cols[1] != 1);
  if (is_even && !is_pair && desc.input_cols[1] != op->cols)
    return attrs.bad("its inputs have " + std::to_string(op->cols) + " and " +
                     std::to_string(desc.input_cols[1]) + " columns");
  return {};
}

Result<void> parse_kind(Attributes& attrs, const mortise_op_desc& desc, Op* op) {
  switch (op->kind) {
    case Kind::norm:
      return parse_norm(attrs, desc, op);
    case Kind::mul:
      return parse_mul(attrs, desc, op);
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
      return parse_act(attrs, op);
    case Kind::act_mul:
      return parse_act_mul(attrs, desc, op);
    case Kind::router:
      return parse_router(attrs, op);
    case Kind::moe_combine:
      return parse_moe_combine(attrs, desc, op);
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
