// Registration of the sampler min_p. Thread rule: constant data. Flow: read by the loader.
#include "min_p.h"

MORTISE_SAMPLER("mortise.min_p", "0.1.0", "Apache-2.0", "min_p", MinP,
                "drops tokens much less likely than the likeliest");
