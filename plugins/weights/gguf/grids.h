// The tables of code points behind ggml's grid types. Thread rule: constants. Flow: read by decode_grid.h;
// one copy serves both builds of the decoders.
#pragma once
#include <stdint.h>

namespace gguf {

#define GRID(name, type, entries, ...) extern const type name[entries];
#include "grids.inc"
#undef GRID

}  // namespace gguf
