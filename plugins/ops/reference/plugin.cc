// mortise.ops.reference: registration. Thread rule and flow: ops.h.
#include "ops.h"

namespace {
constexpr mortise_part kPart = mortise::make_part<ops_reference::Reference>(
    "ops", "reference", MORTISE_OPS_ID, "every standard operation in float32; the yardstick of ops kernels",
    &ops_reference::kTable);
}

MORTISE_PLUGIN("mortise.ops.reference", "0.1.0", "Apache-2.0", MORTISE_OPS_ID, "ops:reference", "", &kPart);
