// mortise.attention.naive: registration. Thread rule and flow: naive.h.
#include "naive.h"

namespace {
constexpr mortise_part kPart = mortise::make_part<attention_naive::Naive>(
    "attention", "naive", MORTISE_ATTENTION_ID,
    "softmax over all positions, plainly; the yardstick of attention", &attention_naive::kTable);
}

MORTISE_PLUGIN("mortise.attention.naive", "0.1.0", "Apache-2.0", MORTISE_ATTENTION_ID, "attention:naive", "",
               &kPart);
