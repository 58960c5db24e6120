// Decoders of the stored element types to float32.
// Thread rule: pure functions. Flow: the format parts decode through them.
#pragma once
#include <cstdint>

namespace mortise::safetensors {

/// Decodes `blocks` blocks at `src` (any alignment) to their elements at `out`; the two do not overlap.
using Decoder = void(const uint8_t* src, uint64_t blocks, float* out);

#define FORMAT(name, elements, bytes, help) Decoder decode_##name;
#include "formats.inc"
#undef FORMAT

/// `groups` groups of 32 elements: 16 bytes of e2m1 codes each, the low half first, times 2^(scale - 127);
/// scale 255 gives NaN.
void decode_mxfp4(const uint8_t* codes, const uint8_t* scales, uint64_t groups, float* out);

}  // namespace mortise::safetensors
