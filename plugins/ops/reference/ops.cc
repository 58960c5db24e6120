// ops/reference: the functions of the kind; see ops.h.
#include "ops.h"

#include <algorithm>

namespace ops_reference {
namespace {

using mortise::Result;

// Elements of a task; a row is never split, so that a row's sums stay in one place.
constexpr uint64_t kTaskElements = 16 * 1024;

constexpr mortise_op_claim claim(const char* op, uint32_t in_place) {
  return {sizeof(mortise_op_claim), 1, op, "cpu", "", "reference", in_place, 0};
}
constexpr mortise_op_claim kNorm = claim("mortise.norm/1", 1), kAdd = claim("mortise.add/1", 1),
                           kMul = claim("mortise.mul/1", 1), kScale = claim("mortise.scale/1", 1),
                           kSoftcap = claim("mortise.softcap/1", 1),
                           kRopeTable = claim("mortise.rope_table/1", 0), kRope = claim("mortise.rope/1", 1),
                           kAct = claim("mortise.act/1", 1), kActMul = claim("mortise.act_mul/1", 1),
                           kRouter = claim("mortise.router/1", 0),
                           kMoeCombine = claim("mortise.moe_combine/1", 0);

const mortise_op_claim* const* claims(void*, uint32_t* count) {
  *count = kKinds;
  return kClaims;
}

mortise_status infer(void*, uint32_t claim, const mortise_op_desc* desc, uint64_t* out_cols,
                     mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    MORTISE_TRY(op, parse(claim, *desc));
    *out_cols = op.cols;
    return {};
  });
}

mortise_status bind(void* self, uint32_t claim, const mortise_op_desc* desc, void** out,
                    mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    MORTISE_TRY(op, parse(claim, *desc));
    op.kernels = &static_cast<Reference*>(self)->kernels();
    *out = new Op(std::move(op));
    return {};
  });
}

void unbind(void*, void* op) { delete static_cast<Op*>(op); }

void plan(void*, void* op, uint64_t rows, uint32_t, mortise_plan* out) {
  const Op& o = *static_cast<Op*>(op);
  const uint64_t work = rows * std::max<uint64_t>(o.cols, o.router.experts) / kTaskElements;
  out->tasks = static_cast<uint32_t>(std::clamp<uint64_t>(work, 1, std::max<uint64_t>(rows, 1)));
  out->scratch_bytes = o.router.experts * sizeof(uint32_t);
}

void run_row(const Op& op, const mortise_op_args& args, uint64_t row, void* scratch) {
  const auto input = [&](int i) { return args.inputs[i] + row * args.input_strides[i]; };
  float* out = args.out + row * args.out_stride;
  const Kernels& k = *op.kernels;
  switch (op.kind) {
    case Kind::norm:
      return k.norm(op.norm, input(0), out, op.cols);
    case Kind::add:
      return k.add(input(0), input(1), op.constant, out, op.cols);
    case Kind::mul:
      return k.mul(op.mul, input(0), input(1), out, op.cols);
    case Kind::scale:
      return k.scale(input(0), op.constant, out, op.cols);
    case Kind::softcap:
      return k.softcap(input(0), op.constant, out, op.cols);
    case Kind::rope_table:
      return rope_table(op.rope_table, op.constant, args.positions[row],
                        args.lengths == nullptr ? 0 : args.lengths[row], out);
    case Kind::rope:
      return k.rope(op.rope, input(0), input(1), out, op.cols);
    case Kind::act:
      return k.act(op.activation, input(0), out, op.cols);
    case Kind::act_mul:
      return k.act_mul(op.gate, input(0), op.gate.is_paired ? nullptr : input(1), out, op.cols);
    case Kind::router:
      return route(op.router, input(0), static_cast<uint32_t*>(scratch), out);
    case Kind::moe_combine:
      return k.combine(input(0), input(1) + op.parts, op.parts, out, op.cols);
  }
}

void run(void*, void* op, const mortise_op_args* args, uint32_t task, void* scratch) {
  const uint64_t end = args->rows * (task + 1) / args->tasks;
  for (uint64_t row = args->rows * task / args->tasks; row < end; ++row)
    run_row(*static_cast<Op*>(op), *args, row, scratch);
}

}  // namespace

const mortise_op_claim* const kClaims[kKinds] = {&kNorm, &kAdd, &kMul,    &kScale,  &kSoftcap,   &kRopeTable,
                                                 &kRope, &kAct, &kActMul, &kRouter, &kMoeCombine};

const Kernels& Reference::kernels() const {
  return isa_ == mortise::Isa::avx512 ? kernels_avx512
         : isa_ == mortise::Isa::avx2 ? kernels_avx2
                                      : kernels_base;
}

const mortise_ops kTable = {sizeof(mortise_ops), 0, &claims, &infer, &bind, &unbind, &plan, &run};

}  // namespace ops_reference
