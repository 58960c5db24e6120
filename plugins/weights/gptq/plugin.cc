// Registration of the plugin `gptq`: the weights part and its formats.
// Thread rule: constants. Flow: the host's loader asks for this table.
#include <mortise/plugin.h>

#include "packed.h"
#include "planar/planar.h"
#include "scheme.h"

namespace gptq {
namespace {

constexpr mortise_weights kWeightsTable = mortise::hf::make_table<Scheme>();
constexpr mortise_part kWeights = mortise::make_part<mortise::hf::Opener>(
    "weights", "gptq", MORTISE_WEIGHTS_ID, "hub folders of AutoGPTQ and GPTQModel, 4 and 8 bits",
    &kWeightsTable);
constexpr mortise_part kInt4 = mortise::planar::format_part(
    "gptq.int4", "4 bits with zero points, a group's scale per output, words of 8 inputs", &kInt4Table);
constexpr mortise_part kInt8 = mortise::planar::format_part(
    "gptq.int8", "8 bits with zero points, a group's scale per output, words of 4 inputs", &kInt8Table);

}  // namespace
}  // namespace gptq

using namespace gptq;
MORTISE_PLUGIN("mortise.gptq", "0.1.0", "Apache-2.0", MORTISE_WEIGHTS_ID " " MORTISE_FORMAT_ID,
               "weights:gptq format:gptq.int4 format:gptq.int8", "", &kWeights, &kInt4, &kInt8);
