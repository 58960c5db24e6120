// The decoders for any processor. Thread rule: pure functions. Flow: see decode_impl.h.
#define GGUF_ISA base
#include "decode_impl.h"

#include "decode_grid.h"
#include "decode_small.h"
