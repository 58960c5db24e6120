// mortise.linear.reference: registration. Thread rule and flow: linear.h.
#include "linear.h"

namespace {
constexpr mortise_part kPart = mortise::make_part<linear_reference::Reference>(
    "linear", "reference", MORTISE_LINEAR_ID,
    "any weight format, float32 sums; the yardstick of linear kernels", &linear_reference::kTable);
}

MORTISE_PLUGIN("mortise.linear.reference", "0.1.0", "Apache-2.0", MORTISE_LINEAR_ID " " MORTISE_FORMAT_ID,
               "linear:reference", "", &kPart);
