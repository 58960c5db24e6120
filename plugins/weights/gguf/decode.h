// Decoders of the block types to float32, built twice from decode_impl.h: for any processor, and for AVX2.
// Thread rule: pure functions. Flow: rows of the table in types.cc; nothing else calls them by name.
#pragma once
#include <cstdint>

// Each is a Decoder of types.h.
#define GGUF_DECODERS(name) void name(const uint8_t* __restrict src, uint64_t blocks, float* __restrict out);
#define GGUF_ALL_DECODERS                                                                             \
  GGUF_DECODERS(f32)                                                                                  \
  GGUF_DECODERS(f16)                                                                                  \
  GGUF_DECODERS(bf16) GGUF_DECODERS(q4_0) GGUF_DECODERS(q4_1) GGUF_DECODERS(q5_0) GGUF_DECODERS(q5_1) \
      GGUF_DECODERS(q8_0) GGUF_DECODERS(q4_k) GGUF_DECODERS(q5_k) GGUF_DECODERS(q6_k)

namespace gguf {
namespace base {
GGUF_ALL_DECODERS
}
namespace avx2 {
GGUF_ALL_DECODERS
}
}  // namespace gguf
#undef GGUF_ALL_DECODERS
#undef GGUF_DECODERS
