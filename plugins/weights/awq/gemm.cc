// The format awq.gemm. Thread rule and flow: see gemm.h. Compiled with -O3.
#include "gemm.h"

#include "planar/decode.h"
#include "planar/planar.h"

namespace awq {
namespace {

using namespace mortise::planar;

// Words that are gathered at once: a line of the file's memory holds sixteen of a row of words, and is likely
// gone from the cache before the next ones are wanted.
constexpr uint64_t kColumns = 4, kChunk = 128;

/// out[i] = (code of words[i] at `shift` - zero) * scale.
void scale_codes(const uint32_t* __restrict words, uint64_t count, uint32_t shift, int32_t zero, float scale,
                 float* __restrict out) {
  for (uint64_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(static_cast<int32_t>(words[i] >> shift & 15) - zero) * scale;
}

/// One tensor's planes.
struct Source {
  const uint8_t *codes, *zeros;
  Reals scales;
  uint64_t in, out, group;

  /// Rows [row0, last), which lie in at most kColumns word columns.
  void decode(uint64_t row0, uint64_t last, float* to) const {
    const uint64_t columns = out / kWordCodes, c0 = row0 / kWordCodes;
    const uint64_t count_columns = divide_up(last, kWordCodes) - c0;
    uint32_t words[kColumns][kChunk];
    for (uint64_t k = 0, count = 0; k < in; k += count) {
      const uint64_t g = k / group;
      count = std::min({kChunk, in - k, (g + 1) * group - k});
      for (uint64_t i = 0; i < count; ++i)
        for (uint64_t c = 0; c < count_columns; ++c)
          words[c][i] = load<uint32_t>(codes, (k + i) * columns + c0 + c);
      for (uint64_t row = row0; row < last; ++row) {
        const uint64_t c = row / kWordCodes;
        const uint32_t shift = kBits * kNibble[row % kWordCodes];
        const auto zero = static_cast<int32_t>(load<uint32_t>(zeros, g * columns + c) >> shift & 15);
        scale_codes(words[c - c0], count, shift, zero, scales[g * out + row], to + (row - row0) * in + k);
      }
    }
  }
};

mortise_status validate_tensor(void*, const mortise_tensor* tensor, mortise_error* error) noexcept {
  return mortise::guard(error, [&] { return validate(*tensor); });
}

void decode_tensor_rows(void*, const mortise_tensor* tensor, const void* const* planes, uint64_t row0,
                        uint64_t rows, float* out) noexcept {
  decode_rows(*tensor, planes, row0, rows, out);
}

}  // namespace

mortise::Result<void> check_shape(const mortise_tensor& tensor) {
  MORTISE_CHECK(check_matrix(tensor, {"bits", "group_size"}));
  const uint64_t out = tensor.shape[0], in = tensor.shape[1];
  MORTISE_CHECK(checked_param(tensor, "bits", kBits, kBits));
  MORTISE_TRY(group, checked_param(tensor, "group_size", 1, static_cast<int64_t>(in)));
  if (in % static_cast<uint64_t>(group) != 0)
    return bad_tensor(tensor,
                      "groups of " + std::to_string(group) + " do not divide rows of " + std::to_string(in));
  if (out % kWordCodes != 0)
    return bad_tensor(tensor, std::to_string(out) + " rows are no whole number of words of 8");
  return {};
}

mortise::Result<void> validate(const mortise_tensor& tensor) {
  MORTISE_CHECK(check_shape(tensor));
  const uint64_t out = tensor.shape[0], in = tensor.shape[1], columns = out / kWordCodes;
  const uint64_t groups = in / static_cast<uint64_t>(param(tensor, "group_size"));
  return check_planes(tensor, {{"codes", {"i32"}, in, columns},
                               {"zeros", {"i32"}, groups, columns},
                               {"scales", {"f16", "bf16"}, groups, out}});
}

void decode_rows(const mortise_tensor& tensor, const void* const* planes, uint64_t row0, uint64_t rows,
                 float* out) {
  const Source source = {plane_data(tensor, planes, "codes"),
                         plane_data(tensor, planes, "zeros"),
                         {plane_data(tensor, planes, "scales"), find_plane(tensor, "scales")->dtype},
                         tensor.shape[1],
                         tensor.shape[0],
                         static_cast<uint64_t>(param(tensor, "group_size"))};
  for (uint64_t row = row0, last; row < row0 + rows; row = last) {
    last = std::min(row0 + rows, (row / kWordCodes + kColumns) * kWordCodes);
    source.decode(row, last, out + (row - row0) * source.in);
  }
}

const mortise_format kGemmTable = {sizeof(mortise_format), 0, "awq.gemm/1", 0, 0, validate_tensor,
                                   decode_tensor_rows};

}  // namespace awq
