// ops/reference: every standard operation of the graph (ops.h of the SDK) in float32, row by row.
// Thread rule: an instance is constant after create, an Op after bind. Flow: the host binds each use of an
// operation at load, then a step's tasks take whole rows.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/cpp/target.h>
#include <mortise/ops.h>

#include <vector>

#include "kernels.h"

namespace ops_reference {

// In the order of the claims.
enum class Kind { norm, add, mul, scale, softcap, rope_table, rope, act, act_mul, router, moe_combine };
constexpr uint32_t kKinds = 11;

/// Angles of a position in a sequence of some length.
struct RopeTable {
  std::vector<double> inverse_frequencies;
  std::vector<double> long_inverse_frequencies;  // of lengths beyond long_from; empty: the same, scaled
  double dynamic_factor = 0;
  uint32_t long_from = UINT32_MAX;
};

/// The choice of experts.
struct Router {
  size_t experts = 0, top_k = 0;
  bool softmax_before = false;  // over all experts, else over the chosen
  bool renormalizes = false;
  double scale = 1;
};

/// One use of an operation, checked.
struct Op {
  Kind kind;
  const Kernels* kernels = nullptr;
  uint64_t cols = 0;      // of the result
  float constant = 1.0f;  // scale_b, c or factor
  Norm norm{};
  Rope rope{};
  Activation activation = Activation::silu;
  Gate gate;
  Mul mul;
  RopeTable rope_table;
  Router router;
  size_t parts = 0;  // of moe_combine
};

/// cos and sin of position * frequency in double, rounded once; a padding row becomes position 0.
void rope_table(const RopeTable& table, double factor, int32_t position, uint32_t length, float* out);

/// Numbers of the chosen experts, ascending, and their weights to out[2][top_k]. NaN counts as the largest
/// logit, so that damage shows. `order` is scratch for one number per expert.
void route(const Router& router, const float* logits, uint32_t* order, float* out);

/// Checks input columns, attributes and vectors of a use of operation `claim`.
mortise::Result<Op> parse(uint32_t claim, const mortise_op_desc& desc);

class Reference {
 public:
  Reference(mortise::Host host, const mortise::NoParams&) : isa_(mortise::best_isa(host)) {}
  const Kernels& kernels() const;

 private:
  mortise::Isa isa_;
};

extern const mortise_op_claim* const kClaims[kKinds];
extern const mortise_ops kTable;

}  // namespace ops_reference
