// Registration of the sampler logit_bias. Thread rule: constant data. Flow: read by the loader.
#include "logit_bias.h"

MORTISE_SAMPLER("mortise.logit_bias", "0.1.0", "Apache-2.0", "logit_bias", LogitBias,
                "adds to the logits of single tokens; -100 bans");
