// The weights part: hub folders whose tensors are stored as they are.
// Thread rule: [load]. Flow: plugin.cc registers the table; plugins/common/hf opens the folder.
#pragma once
#include "hf/model.h"

namespace mortise::safetensors {

struct Scheme {
  static int32_t score(const hf::Glance& glance);
  /// Errors: a quantized model, in a line that names the plugin that reads it.
  static Result<void> compose(const hf::Folder& folder, hf::TensorList* out);
};

}  // namespace mortise::safetensors
