// Named limits of the reader of hub folders (docs/formats/safetensors.md and docs/limits.md list them).
// Thread rule: constants. Flow: checked while headers and configs are read, before anything is allocated.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mortise::hf {

constexpr uint64_t kHeaderBytesMax = 100'000'000;  // of one .safetensors file, as its reference reader has it
constexpr uint64_t kTensorsMax = uint64_t{1} << 20;  // of one model
constexpr size_t kRankMax = 8;                       // of a stored tensor
constexpr size_t kTensorNameBytesMax = 1024;
constexpr uint64_t kConfigBytesMax = uint64_t{64} << 20;  // config.json, the index and their like
constexpr size_t kConfigKeysMax = 65536;                  // after flattening, of one model
constexpr size_t kConfigKeyBytesMax = 1024;               // a flattened key
constexpr size_t kJsonDepthMax = 64;
constexpr size_t kShardsMax = 2048;

}  // namespace mortise::hf
