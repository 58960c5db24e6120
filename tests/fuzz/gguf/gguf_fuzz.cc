// Fuzz target of the GGUF reader: reads a header, turns all metadata into values and decodes small tensors
// with both decoder variants, which must agree. Thread rule: single-threaded. Flow: libFuzzer calls it with
// any bytes.
#include <cstdlib>
#include <cstring>

#include "file.h"

namespace {

constexpr uint64_t kDecodedWeightsMax = 1 << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

void decode(const gguf::File& file, const gguf::Tensor& tensor) {
  require(tensor.offset + tensor.bytes <= file.size);
  const uint64_t weights = tensor.row_weights() * tensor.rows();
  if (weights > kDecodedWeightsMax) return;
  const uint64_t blocks = weights / tensor.type->block_weights;
  std::vector<float> base(weights), fast(weights);
  tensor.type->decode_base(file.data + tensor.offset, blocks, base.data());
  if (!__builtin_cpu_supports("avx2")) return;  // F16C came before AVX2
  tensor.type->decode_avx2(file.data + tensor.offset, blocks, fast.data());
  for (uint64_t i = 0; i < weights; ++i)  // which NaN is left to the compiler
    require(std::memcmp(&base[i], &fast[i], sizeof(float)) == 0 ||
            (base[i] != base[i] && fast[i] != fast[i]));
}

void read(const uint8_t* data, size_t size, bool header_only) {
  const auto file = gguf::read_file(data, size, "fuzz", header_only);
  if (!file) {
    require(file.error().offset <= size || !file.error().message.empty());
    return;
  }
  require(file->header_bytes <= size && (header_only || !file->header_only));
  for (const gguf::Entry& entry : file->entries) {
    require(file->find_entry(entry.key) == &entry);
    (void)gguf::Value::of(*file, entry);
  }
  for (const gguf::Tensor& tensor : file->tensors) {
    require(file->find_tensor(tensor.name) == &tensor);
    if (!file->header_only) decode(*file, tensor);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read(data, size, false);
  read(data, size, true);
  return 0;
}
