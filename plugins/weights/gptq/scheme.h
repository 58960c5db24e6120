// The weights part: hub folders that AutoGPTQ or GPTQModel wrote.
// Thread rule: [load]. Flow: plugin.cc registers the table; plugins/common/hf opens the folder.
#pragma once
#include "hf/model.h"

namespace gptq {

struct Scheme {
  static int32_t score(const mortise::hf::Glance& glance) { return glance.quant_method == "gptq" ? 100 : 0; }
  /// `X.qweight`, `X.qzeros`, `X.scales` and perhaps `X.g_idx` become `X.weight`; all else is as stored.
  /// Errors: another scheme, checkpoint format or number of bits; a part missing; shapes that contradict each
  /// other or the config; a group index out of range.
  static mortise::Result<void> compose(const mortise::hf::Folder& folder, mortise::hf::TensorList* out);
};

}  // namespace gptq
