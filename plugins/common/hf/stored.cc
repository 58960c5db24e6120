// Tensors written element by element. Thread rule and flow: see stored.h.
#include "hf/stored.h"

#include <mortise/cpp/half.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hf/json_events.h"

namespace mortise::hf {
namespace {

constexpr uint64_t kPieceElements = 1 << 16;  // encoded at once

/// Encodes `count` values to `out`; false where a finite one is beyond the type's range.
using Encoder = bool(const float* x, uint64_t count, char* out);

bool encode_f32(const float* x, uint64_t count, char* out) {
  std::memcpy(out, x, count * sizeof(float));
  return true;
}

template <uint16_t (*convert)(float), uint16_t infinity>
bool encode_16(const float* x, uint64_t count, char* out) {
  bool fits = true;
  for (uint64_t i = 0; i < count; ++i) {
    const uint16_t bits = convert(x[i]);
    fits = fits && ((bits & 0x7fff) != infinity || std::isinf(x[i]));
    std::memcpy(out + 2 * i, &bits, sizeof(bits));
  }
  return fits;
}

}  // namespace

struct Encoding {
  const char* format;
  const char* dtype;
  Encoder* encode;
};

namespace {

constexpr Encoding kEncodings[] = {{"safetensors.f32/1", "F32", encode_f32},
                                   {"safetensors.f16/1", "F16", encode_16<float_to_half, 0x7c00>},
                                   {"safetensors.bf16/1", "BF16", encode_16<float_to_bf16, 0x7f80>}};

}  // namespace

Result<Stored> Stored::of(const mortise_tensor& tensor) {
  Stored out;
  out.name_ = view(tensor.name);
  const std::string format = tensor.format;
  const auto found = std::find_if(std::begin(kEncodings), std::end(kEncodings),
                                  [&](const Encoding& row) { return format == row.format; });
  if (found == std::end(kEncodings))
    return fail(Code::unsupported, in_quotes(out.name_),
                format + " is not written; safetensors.f32/1, .f16/1 and .bf16/1 are");
  if (tensor.rank == 0 || tensor.rank > MORTISE_RANK_MAX || tensor.param_count != 0)
    return fail(Code::bad_argument, in_quotes(out.name_), "has one to four dimensions and no parameters");
  out.encoding_ = found;
  out.shape_.assign(tensor.shape, tensor.shape + tensor.rank);
  return out;
}

OutTensor Stored::out() const { return {name_, find_dtype(encoding_->dtype), shape_}; }

Result<void> Stored::write(const FolderWriter& folder, uint64_t index, uint64_t row0, uint64_t rows,
                           const float* x) const {
  const uint64_t width = find_dtype(encoding_->dtype)->bits / 8;
  const uint64_t columns = shape_.back(), count = rows * columns;
  std::vector<char> bytes(std::min(count, kPieceElements) * width);
  for (uint64_t done = 0; done < count; done += kPieceElements) {
    const uint64_t piece = std::min(count - done, kPieceElements);
    if (!encoding_->encode(x + done, piece, bytes.data()))
      return fail(Code::bad_data, in_quotes(name_),
                  std::string("holds a value beyond the range of ") + encoding_->dtype + "; write bf16");
    MORTISE_CHECK(folder.write(index, (row0 * columns + done) * width, {bytes.data(), piece * width}));
  }
  return {};
}

}  // namespace mortise::hf
