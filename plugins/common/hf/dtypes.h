// The element types of safetensors files.
// Thread rule: constants. Flow: the header's reader looks a name up, plugins build format ids from it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::hf {

struct Dtype {
  std::string_view name;  ///< as files write it: "BF16"
  const char* element;    ///< as planes write it: "bf16"
  uint32_t bits;          ///< of one element; below 8 they lie packed
};

/// Null for a name that the format has not.
const Dtype* find_dtype(std::string_view name);
/// "BOOL, F4, …"; for messages.
std::string dtype_names();

}  // namespace mortise::hf
