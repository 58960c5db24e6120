// attention/paged: the kernels built for Isa::avx2. Thread rule and flow: kernels.h.
#define KERNELS kernels_avx2
#include "kernels.inc"
