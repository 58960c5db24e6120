// attention/paged: the kernels built for Isa::base. Thread rule and flow: kernels.h.
#define KERNELS kernels_base
#include "kernels.inc"
