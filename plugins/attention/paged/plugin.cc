// mortise.attention.paged: registration. Thread rule and flow: paged.h.
#include "paged.h"

namespace {
constexpr mortise_part kPart = mortise::make_part<attention_paged::Paged>(
    "attention", "paged", MORTISE_ATTENTION_ID,
    "blocked softmax attention for prompts and decoding, vectorised", &attention_paged::kTable);
}

MORTISE_PLUGIN("mortise.attention.paged", "0.1.0", "Apache-2.0", MORTISE_ATTENTION_ID, "attention:paged", "",
               &kPart);
