// Fuzz target of the GGUF block types: any bytes decode, in both variants to the same bits; any numbers that
// the writer lets through are encoded to blocks that decode to finite numbers. The first byte chooses the
// type. Thread rule: single-threaded. Flow: libFuzzer calls it with any bytes.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "types.h"

namespace {

constexpr float kLargest = 65504;  // what every type holds; see write.cc

void require(bool holds) {
  if (!holds) std::abort();
}

void decode(const gguf::Type& type, const uint8_t* data, size_t size) {
  const size_t blocks = size / type.block_bytes;
  // Of exactly this size and at an odd address, so that a sanitizer sees a read beyond.
  std::vector<uint8_t> source(blocks * type.block_bytes + 1);
  std::memcpy(source.data() + 1, data, source.size() - 1);
  std::vector<float> base(blocks * type.block_weights), fast(base.size());
  type.decode_base(source.data() + 1, blocks, base.data());
  if (!__builtin_cpu_supports("avx2")) return;  // F16C came before AVX2
  type.decode_avx2(source.data() + 1, blocks, fast.data());
  for (size_t i = 0; i < base.size(); ++i)  // which NaN is left to the compiler
    require(std::memcmp(&base[i], &fast[i], sizeof(float)) == 0 ||
            (base[i] != base[i] && fast[i] != fast[i]));
}

/// The bytes as floats in the range that is encoded.
std::vector<float> numbers(const uint8_t* data, size_t size) {
  std::vector<float> out(size / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), data, out.size() * sizeof(float));
  for (float& x : out) x = std::isfinite(x) ? std::fmod(x, kLargest) : 0.0f;
  return out;
}

void encode(const gguf::Type& type, const uint8_t* data, size_t size) {
  const std::vector<float> x = numbers(data, size);
  std::vector<float> importance = x;
  for (float& value : importance) value = std::fabs(value);
  const size_t blocks = x.size() / type.block_weights;
  std::vector<uint8_t> encoded(blocks * type.block_bytes);
  std::vector<float> decoded(blocks * type.block_weights);
  for (const float* weights :
       {static_cast<const float*>(nullptr), const_cast<const float*>(importance.data())}) {
    type.encode(x.data(), weights, blocks, encoded.data());
    type.decode_base(encoded.data(), blocks, decoded.data());
    for (float value : decoded) require(std::isfinite(value));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint32_t number = data[0] % (gguf::highest_type().number + 1);
  const gguf::Type& type = *gguf::find_type(number);
  if (!type.readable()) return 0;
  decode(type, data + 1, size - 1);
  if (type.encode != nullptr) encode(type, data + 1, size - 1);
  return 0;
}
