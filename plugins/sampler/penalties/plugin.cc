// Registration of the sampler penalties. Thread rule: constant data. Flow: read by the loader.
#include "penalties.h"

MORTISE_SAMPLER("mortise.penalties", "0.1.0", "Apache-2.0", "penalties", Penalties,
                "makes tokens that occurred before less likely");
