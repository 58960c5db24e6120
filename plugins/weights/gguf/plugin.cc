// Registration of the plugin `gguf`: the weights part and one format part a tensor type that is read.
// Thread rule: constants. Flow: the host's loader asks for this table.
#include <mortise/plugin.h>

#include "format.h"
#include "model.h"

namespace gguf {
namespace {

constexpr mortise_part kWeights = mortise::make_part<Weights>("weights", "gguf", MORTISE_WEIGHTS_ID,
                                                              "GGUF files, version 2 and 3", &kWeightsTable);

#define KNOWN(number, name, weights, bytes)
#define GONE(number, name, instead)
#define READ(number, name, weights, bytes, decoder)                        \
  constexpr mortise_format kTable_##decoder = {sizeof(mortise_format),     \
                                               0,                          \
                                               "gguf." #decoder "/1",      \
                                               weights,                    \
                                               bytes,                      \
                                               validate_tensor,            \
                                               decode_tensor_rows};        \
  constexpr mortise_part k_##decoder = mortise::make_part<Format<number>>( \
      "format", "gguf." #decoder, MORTISE_FORMAT_ID, "ggml's type " name, &kTable_##decoder);
#define BOTH(number, name, weights, bytes, decoder) READ(number, name, weights, bytes, decoder)
#include "types.inc"
#undef READ
#undef BOTH
#undef KNOWN
#undef GONE

}  // namespace
}  // namespace gguf

using namespace gguf;
MORTISE_PLUGIN(
    "mortise.gguf", "0.1.0", "Apache-2.0", MORTISE_WEIGHTS_ID " " MORTISE_FORMAT_ID,
    "weights:gguf format:gguf.f32 format:gguf.f16 format:gguf.q4_0 format:gguf.q4_1 format:gguf.q5_0 "
    "format:gguf.q5_1 format:gguf.q8_0 format:gguf.q2_k format:gguf.q3_k format:gguf.q4_k "
    "format:gguf.q5_k format:gguf.q6_k format:gguf.iq2_xxs format:gguf.iq2_xs format:gguf.iq3_xxs "
    "format:gguf.iq1_s format:gguf.iq4_nl format:gguf.iq3_s format:gguf.iq2_s format:gguf.iq4_xs "
    "format:gguf.iq1_m format:gguf.bf16 format:gguf.tq1_0 format:gguf.tq2_0 format:gguf.mxfp4 "
    "format:gguf.nvfp4 format:gguf.q1_0 format:gguf.q2_0",
    "", &kWeights, &k_f32, &k_f16, &k_q4_0, &k_q4_1, &k_q5_0, &k_q5_1, &k_q8_0, &k_q2_k, &k_q3_k, &k_q4_k,
    &k_q5_k, &k_q6_k, &k_iq2_xxs, &k_iq2_xs, &k_iq3_xxs, &k_iq1_s, &k_iq4_nl, &k_iq3_s, &k_iq2_s, &k_iq4_xs,
    &k_iq1_m, &k_bf16, &k_tq1_0, &k_tq2_0, &k_mxfp4, &k_nvfp4, &k_q1_0, &k_q2_0);
