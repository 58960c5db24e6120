// Registration of the plugin `compressed_tensors`: the weights part and its formats.
// Thread rule: constants. Flow: the host's loader asks for this table.
#include <mortise/plugin.h>

#include "layout.h"
#include "planar/planar.h"
#include "scheme.h"

namespace compressed_tensors {
namespace {

using mortise::planar::format_part;

constexpr mortise_weights kWeightsTable = mortise::hf::make_table<Scheme>();
constexpr mortise_part kWeights = mortise::make_part<mortise::hf::Opener>(
    "weights", "compressed_tensors", MORTISE_WEIGHTS_ID,
    "hub folders of compressed-tensors (int4, int8, FP8) and of the quant_method fp8", &kWeightsTable);
constexpr mortise_part kPack4 =
    format_part("compressed.pack4", "4 bits in words along the row (pack-quantized)", &kTables[0]);
constexpr mortise_part kPack8 =
    format_part("compressed.pack8", "8 bits in words along the row (pack-quantized)", &kTables[1]);
constexpr mortise_part kInt8 = format_part("compressed.int8", "signed bytes with scales", &kTables[2]);
constexpr mortise_part kFp8 = format_part("compressed.fp8", "FP8 E4M3 with scales", &kTables[3]);

}  // namespace
}  // namespace compressed_tensors

using namespace compressed_tensors;
MORTISE_PLUGIN("mortise.compressed_tensors", "0.1.0", "Apache-2.0", MORTISE_WEIGHTS_ID " " MORTISE_FORMAT_ID,
               "weights:compressed_tensors format:compressed.pack4 format:compressed.pack8 "
               "format:compressed.int8 format:compressed.fp8",
               "", &kWeights, &kPack4, &kPack8, &kInt8, &kFp8);
