// The weights part: hub folders in the layouts of compressed-tensors, and FP8 as DeepSeek and Qwen store it.
// Thread rule: [load]. Flow: plugin.cc registers the table; plugins/common/hf opens the folder.
#pragma once
#include "hf/model.h"

namespace compressed_tensors {

struct Scheme {
  static int32_t score(const mortise::hf::Glance& glance) {
    return glance.quant_method == "compressed-tensors" || glance.quant_method == "fp8" ? 100 : 0;
  }
  /// `X.weight_packed`, or `X.weight` of 8-bit elements, becomes `X.weight` with its scales, zero points and
  /// group index; all else is as stored. Errors: as read_config; a part missing; shapes that contradict each
  /// other or the config; a group index out of range.
  static mortise::Result<void> compose(const mortise::hf::Folder& folder, mortise::hf::TensorList* out);
};

}  // namespace compressed_tensors
