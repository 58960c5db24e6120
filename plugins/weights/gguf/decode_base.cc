// The decoders for any processor. Thread rule: pure functions. Flow: see decode_impl.h.
#define GGUF_ISA base
#include "decode_impl.h"
