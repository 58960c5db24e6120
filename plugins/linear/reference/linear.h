// linear/reference: any format through its reference decoder, float32 activations, plain float sums.
// Thread rule: an instance is constant after create; a weight after bind. Flow: the host packs rows once at
// load, then a step's tasks each decode a few weight rows and multiply all rows of x by them.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/cpp/target.h>
#include <mortise/linear.h>

#include "kernels.h"

namespace linear_reference {

class Reference {
 public:
  Reference(mortise::Host host, const mortise::NoParams&) : isa_(mortise::best_isa(host)) {}
  const Kernels& kernels() const;

 private:
  mortise::Isa isa_;
};

extern const mortise_linear kTable;

}  // namespace linear_reference
