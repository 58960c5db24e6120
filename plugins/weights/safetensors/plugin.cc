// Registration of the plugin `safetensors`: the weights part and one format part an element type.
// Thread rule: constants. Flow: the host's loader asks for this table.
#include <mortise/plugin.h>

#include "format.h"
#include "scheme.h"
#include "write.h"

namespace mortise::safetensors {
namespace {

constexpr mortise_weights make_weights() {
  mortise_weights table = hf::make_table<Scheme>();
  hf::add_write_calls<Writer>(&table);
  return table;
}

constexpr mortise_weights kWeightsTable = make_weights();
constexpr mortise_part kWeights =
    make_part<hf::Opener>("weights", "safetensors", MORTISE_WEIGHTS_ID,
                          "hub folders and .safetensors files that are not quantized", &kWeightsTable);

#define FORMAT(name, elements, bytes, help)                                                             \
  constexpr Elementwise kElements_##name = {"safetensors." #name "/1", elements, bytes, decode_##name}; \
  constexpr mortise_format kTable_##name = ElementwiseCalls<kElements_##name>::table();                 \
  constexpr mortise_part kPart_##name =                                                                 \
      make_part<FormatInstance>("format", "safetensors." #name, MORTISE_FORMAT_ID, help, &kTable_##name);
#include "formats.inc"
#undef FORMAT

constexpr mortise_part kMxfp4 =
    make_part<FormatInstance>("format", "safetensors.mxfp4", MORTISE_FORMAT_ID,
                              "float4 e2m1 with a power of two for each 32 (gpt-oss)", &kMxfp4Table);

}  // namespace
}  // namespace mortise::safetensors

using namespace mortise::safetensors;
MORTISE_PLUGIN("mortise.safetensors", "0.1.0", "Apache-2.0", MORTISE_WEIGHTS_ID " " MORTISE_FORMAT_ID,
               "weights:safetensors format:safetensors.mxfp4 format:safetensors.f64 format:safetensors.f32 "
               "format:safetensors.f16 format:safetensors.bf16 format:safetensors.f8_e4m3 "
               "format:safetensors.f8_e5m2 format:safetensors.f8_e8m0 format:safetensors.f8_e4m3fnuz "
               "format:safetensors.f8_e5m2fnuz format:safetensors.f4 format:safetensors.i64 "
               "format:safetensors.i32 format:safetensors.i16 format:safetensors.i8 format:safetensors.u64 "
               "format:safetensors.u32 format:safetensors.u16 format:safetensors.u8 format:safetensors.bool",
               "", &kWeights, &kMxfp4, &kPart_f64, &kPart_f32, &kPart_f16, &kPart_bf16, &kPart_f8_e4m3,
               &kPart_f8_e5m2, &kPart_f8_e8m0, &kPart_f8_e4m3fnuz, &kPart_f8_e5m2fnuz, &kPart_f4, &kPart_i64,
               &kPart_i32, &kPart_i16, &kPart_i8, &kPart_u64, &kPart_u32, &kPart_u16, &kPart_u8, &kPart_bool);
