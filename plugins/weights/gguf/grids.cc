// The tables of grids.inc. Thread rule: constants. Flow: see grids.h.
#include "grids.h"

namespace gguf {

#define GRID(name, type, entries, ...) const type name[entries] = {__VA_ARGS__};
#include "grids.inc"
#undef GRID

}  // namespace gguf
