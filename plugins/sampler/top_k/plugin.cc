// Registration of the sampler top_k. Thread rule: constant data. Flow: read by the loader.
#include "top_k.h"

MORTISE_SAMPLER("mortise.top_k", "0.1.0", "Apache-2.0", "top_k", TopK, "keeps the k likeliest tokens");
