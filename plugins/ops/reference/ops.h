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
enum class Kind { norm, add, mul, scale, softcap, rope_table, rope, act, act_mul };
constexpr uint32_t kKinds = 9;

/// One use of an operation, checked.
struct Op {
  Kind kind;
  const Kernels* kernels = nullptr;
  uint64_t cols = 0;      // of the result
  float constant = 1.0f;  // scale_b, c or factor
  Norm norm{};
  Rope rope{};
  Activation activation = Activation::silu;
  std::vector<double> inverse_frequencies;
};

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
