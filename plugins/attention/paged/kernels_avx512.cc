// attention/paged: the kernels built for Isa::avx512. Thread rule and flow: kernels.h.
#define KERNELS kernels_avx512
#include "kernels.inc"
