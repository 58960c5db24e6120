// Decoders of the block types to float32, built twice from decode_impl.h: for any processor, and for AVX2.
// Thread rule: pure functions. Flow: rows of the table in types.cc; nothing else calls them by name.
#pragma once
#include <cstdint>

// Each is a Decoder of types.h.
#define GGUF_DECODER(name) void name(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out);
// clang-format off
#define GGUF_ALL_DECODERS \
  GGUF_DECODER(f32) GGUF_DECODER(f16) GGUF_DECODER(bf16) GGUF_DECODER(q1_0) \
  GGUF_DECODER(q2_0) GGUF_DECODER(q4_0) GGUF_DECODER(q4_1) GGUF_DECODER(q5_0) \
  GGUF_DECODER(q5_1) GGUF_DECODER(q8_0) GGUF_DECODER(q2_k) GGUF_DECODER(q3_k) \
  GGUF_DECODER(q4_k) GGUF_DECODER(q5_k) GGUF_DECODER(q6_k) GGUF_DECODER(tq1_0) \
  GGUF_DECODER(tq2_0) GGUF_DECODER(iq1_s) GGUF_DECODER(iq1_m) GGUF_DECODER(iq2_xxs) \
  GGUF_DECODER(iq2_xs) GGUF_DECODER(iq2_s) GGUF_DECODER(iq3_xxs) GGUF_DECODER(iq3_s) \
  GGUF_DECODER(iq4_nl) GGUF_DECODER(iq4_xs) GGUF_DECODER(mxfp4) GGUF_DECODER(nvfp4)
// clang-format on

namespace gguf {
namespace base {
GGUF_ALL_DECODERS
}
namespace avx2 {
GGUF_ALL_DECODERS
}
}  // namespace gguf
#undef GGUF_ALL_DECODERS
#undef GGUF_DECODER
