// The table of element types. Thread rule and flow: see dtypes.h.
#include "hf/dtypes.h"

#include <array>

namespace mortise::hf {
namespace {

constexpr auto kDtypes = std::to_array<Dtype>({
    {"BOOL", "bool", 8},
    {"F4", "f4", 4},
    {"F6_E2M3", "f6_e2m3", 6},
    {"F6_E3M2", "f6_e3m2", 6},
    {"U8", "u8", 8},
    {"I8", "i8", 8},
    {"F8_E5M2", "f8_e5m2", 8},
    {"F8_E4M3", "f8_e4m3", 8},
    {"F8_E8M0", "f8_e8m0", 8},
    {"F8_E4M3FNUZ", "f8_e4m3fnuz", 8},
    {"F8_E5M2FNUZ", "f8_e5m2fnuz", 8},
    {"I16", "i16", 16},
    {"U16", "u16", 16},
    {"F16", "f16", 16},
    {"BF16", "bf16", 16},
    {"I32", "i32", 32},
    {"U32", "u32", 32},
    {"F32", "f32", 32},
    {"C64", "c64", 64},
    {"F64", "f64", 64},
    {"I64", "i64", 64},
    {"U64", "u64", 64},
});

}  // namespace

const Dtype* find_dtype(std::string_view name) {
  for (const Dtype& dtype : kDtypes)
    if (dtype.name == name) return &dtype;
  return nullptr;
}

std::string dtype_names() {
  std::string out;
  for (const Dtype& dtype : kDtypes) out += (out.empty() ? "" : ", ") + std::string(dtype.name);
  return out;
}

}  // namespace mortise::hf
