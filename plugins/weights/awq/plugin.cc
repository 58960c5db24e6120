// Registration of the plugin `awq`: the weights part and its format.
// Thread rule: constants. Flow: the host's loader asks for this table.
#include <mortise/plugin.h>

#include "gemm.h"
#include "planar/planar.h"
#include "scheme.h"
#include "write.h"

namespace awq {
namespace {

constexpr mortise_weights make_weights() {
  mortise_weights table = mortise::hf::make_table<Scheme>();
  mortise::hf::add_write_calls<Writer>(&table);
  return table;
}

constexpr mortise_weights kWeightsTable = make_weights();
constexpr mortise_part kWeights = mortise::make_part<mortise::hf::Opener>(
    "weights", "awq", MORTISE_WEIGHTS_ID, "hub folders in AutoAWQ's gemm layout, 4 bits", &kWeightsTable);
constexpr mortise_part kGemm = mortise::planar::format_part(
    "awq.gemm", "4 bits with zero points, a group's scale per output, words of 8 outputs", &kGemmTable);

}  // namespace
}  // namespace awq

using namespace awq;
MORTISE_PLUGIN("mortise.awq", "0.1.0", "Apache-2.0", MORTISE_WEIGHTS_ID " " MORTISE_FORMAT_ID,
               "weights:awq format:awq.gemm", "", &kWeights, &kGemm);
