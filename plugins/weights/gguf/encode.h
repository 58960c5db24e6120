// Quantisers: float32 to blocks, for the types that the writer offers.
// Thread rule: pure functions. Flow: rows of the table in types.cc; the writer checks the values
// before it calls one.
#pragma once
#include <cstdint>

namespace gguf::encode {

// Each is an Encoder of types.h. Without importance: F32, F16 and BF16 round to nearest even; Q4_0, Q4_1,
// Q5_0, Q5_1 and Q8_0 map the extreme values of a block to the ends of the range, the bits of ggml's; Q4_K,
// Q5_K and Q6_K search for the smallest squared error. With importance, all but F32, F16, BF16 and Q8_0
// search for the smallest sum of importance * squared error.
#define GGUF_ENCODER(name) \
  void name(const float* x, const float* importance, uint64_t blocks, uint8_t* __restrict out);
GGUF_ENCODER(f32)
GGUF_ENCODER(f16)
GGUF_ENCODER(bf16)
GGUF_ENCODER(q4_0)
GGUF_ENCODER(q4_1)
GGUF_ENCODER(q5_0)
GGUF_ENCODER(q5_1)
GGUF_ENCODER(q8_0)
GGUF_ENCODER(q4_k)
GGUF_ENCODER(q5_k)
GGUF_ENCODER(q6_k)
#undef GGUF_ENCODER

}  // namespace gguf::encode
