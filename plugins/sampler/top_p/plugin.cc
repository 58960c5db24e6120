// Registration of the sampler top_p. Thread rule: constant data. Flow: read by the loader.
#include "top_p.h"

MORTISE_SAMPLER("mortise.top_p", "0.1.0", "Apache-2.0", "top_p", TopP,
                "keeps the likeliest tokens that together reach a probability");
