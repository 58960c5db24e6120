// Registration of the sampler typical_p. Thread rule: constant data. Flow: read by the loader.
#include "typical_p.h"

MORTISE_SAMPLER("mortise.typical_p", "0.1.0", "Apache-2.0", "typical_p", TypicalP,
                "keeps the tokens whose surprise is nearest to the expected one");
