// The weights part: hub folders that AutoAWQ's gemm layout was written to.
// Thread rule: [load]. Flow: plugin.cc registers the table; plugins/common/hf opens the folder.
#pragma once
#include "hf/model.h"

namespace awq {

struct Scheme {
  static int32_t score(const mortise::hf::Glance& glance) { return glance.quant_method == "awq" ? 100 : 0; }
  /// `X.qweight`, `X.qzeros` and `X.scales` become `X.weight`; all else is as stored. Errors: another scheme,
  /// version or number of bits; a part missing; shapes that contradict each other or the config.
  static mortise::Result<void> compose(const mortise::hf::Folder& folder, mortise::hf::TensorList* out);
};

}  // namespace awq
