// The decoders for a processor with AVX2; the build gives this file -mavx2. Thread rule: pure functions.
// Flow: see decode_impl.h; chosen at run time by the host's has_isa("avx2").
#define GGUF_ISA avx2
#include "decode_impl.h"

#include "decode_grid.h"
#include "decode_small.h"
