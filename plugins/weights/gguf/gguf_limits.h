// Named limits of the GGUF reader (docs/formats/gguf.md and docs/limits.md list them).
// Thread rule: constants. Flow: checked while a file's header is read, before anything is allocated.
#pragma once
#include <cstdint>

namespace gguf {

constexpr uint64_t kMetadataKeysMax = 65536;
constexpr uint64_t kTensorsMax = 65536;
constexpr uint64_t kKeyBytesMax = 65535;
constexpr uint64_t kStringBytesMax = uint64_t{64} << 20;
constexpr uint64_t kArrayElementsMax = uint64_t{1} << 24;
constexpr uint64_t kTensorNameBytesMax = 63;
constexpr uint32_t kDimsMax = 4;
constexpr uint64_t kPartsMax = 1024;
constexpr uint32_t kAlignmentMax = 1u << 20;

}  // namespace gguf
