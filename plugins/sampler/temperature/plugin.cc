// Registration of the sampler temperature. Thread rule: constant data. Flow: read by the loader.
#include "temperature.h"

MORTISE_SAMPLER("mortise.temperature", "0.1.0", "Apache-2.0", "temperature", Temperature,
                "divides the logits by the temperature; 0 takes the largest");
