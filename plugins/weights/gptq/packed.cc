// The formats gptq.int4 and gptq.int8. Thread rule and flow: see packed.h. Compiled with -O3.
#include "packed.h"

#include "planar/decode.h"
#include "planar/planar.h"

namespace gptq {
namespace {

using namespace mortise::planar;

// Words that are gathered at once: neighbouring rows lie side by side in a line of the file's memory, which
// is likely gone from the cache before the next ones are wanted.
constexpr uint64_t kRows = 8, kChunk = 128;

/// Zero points and scales of a row's groups.
struct Groups {
  int32_t zeros[kIndexedGroupsMax];
  float scales[kIndexedGroupsMax];
};

/// One tensor's planes.
struct Source {
  const uint8_t *codes, *zeros;
  Reals scales;
  const uint8_t* index;  // null: group k / group
  uint32_t bits, word_codes;
  uint64_t in, out, group, groups;
  uint32_t zero_offset;

  /// The whole word is counted up, as the writers of such files count it down: where a zero point is 0, a
  /// borrow has run through the word.
  int32_t zero(uint64_t g, uint64_t row) const {
    const uint64_t columns = divide_up(out, word_codes);
    const uint32_t ones = bits == 4 ? 0x11111111u : 0x01010101u;
    const uint32_t word = load<uint32_t>(zeros, g * columns + row / word_codes) + zero_offset * ones;
    return static_cast<int32_t>(word >> bits * (row % word_codes) & ((1u << bits) - 1));
  }
  float scale(uint64_t g, uint64_t row) const { return scales[g * out + row]; }

  void decode_indexed(uint64_t row0, uint64_t rows, float* to) const {
    Groups of[kRows];
    for (uint64_t g = 0; g < groups; ++g)
      for (uint64_t r = 0; r < rows; ++r) {
        of[r].zeros[g] = zero(g, row0 + r);
        of[r].scales[g] = scale(g, row0 + r);
      }
    for_pieces(row0, rows, [&](uint64_t r, uint64_t k, const uint8_t* piece, uint64_t count) {
      scale_indexed(piece, count, index + k * sizeof(int32_t), static_cast<uint32_t>(groups), of[r].zeros,
                    of[r].scales, to + r * in + k);
    });
  }

  void decode_grouped(uint64_t row0, uint64_t rows, float* to) const {
    for_pieces(row0, rows, [&](uint64_t r, uint64_t k0, const uint8_t* piece, uint64_t count) {
      for (uint64_t k = k0; k < k0 + count;) {
        const uint64_t g = k / group, end = std::min(k0 + count, (g + 1) * group);
        scale_run(piece + (k - k0), end - k, zero(g, row0 + r), scale(g, row0 + r), to + r * in + k);
        k = end;
      }
    });
  }

  /// Calls use(row - row0, k, codes, count) for the codes of at most kRows rows, piece by piece.
  template <class Use>
  void for_pieces(uint64_t row0, uint64_t rows, const Use& use) const {
    uint32_t words[kRows][kChunk];
    uint8_t unpacked[kChunk * 8];
    for (uint64_t word = 0; word < in / word_codes; word += kChunk) {
      const uint64_t count = std::min(kChunk, in / word_codes - word);
      for (uint64_t i = 0; i < count; ++i)
        for (uint64_t r = 0; r < rows; ++r) words[r][i] = load<uint32_t>(codes, (word + i) * out + row0 + r);
      for (uint64_t r = 0; r < rows; ++r) {
        const auto* piece = reinterpret_cast<const uint8_t*>(words[r]);
        if (bits == 4) {
          nibbles(piece, count * sizeof(uint32_t), unpacked);
          piece = unpacked;
        }
        use(r, word * word_codes, piece, count * word_codes);
      }
    }
  }
};

template <uint32_t bits>
mortise_status validate_tensor(void*, const mortise_tensor* tensor, mortise_error* error) noexcept {
  return mortise::guard(error, [&] { return validate(*tensor, bits); });
}

template <uint32_t bits>
void decode_tensor_rows(void*, const mortise_tensor* tensor, const void* const* planes, uint64_t row0,
                        uint64_t rows, float* out) noexcept {
  decode_rows(*tensor, bits, planes, row0, rows, out);
}

}  // namespace

mortise::Result<void> validate(const mortise_tensor& tensor, uint32_t bits) {
  MORTISE_CHECK(check_matrix(tensor, {"bits", "group_size", "zero_offset"}));
  const uint64_t out = tensor.shape[0], in = tensor.shape[1], word_codes = 32 / bits;
  MORTISE_CHECK(checked_param(tensor, "bits", bits, bits));
  MORTISE_CHECK(checked_param(tensor, "zero_offset", 0, 1));
  MORTISE_TRY(group, checked_param(tensor, "group_size", 1, static_cast<int64_t>(in)));
  if (in % word_codes != 0)
    return bad_tensor(tensor, "rows of " + std::to_string(in) + " are no whole number of words of " +
                                  std::to_string(word_codes));
  const uint64_t groups = divide_up(in, static_cast<uint64_t>(group));
  MORTISE_CHECK(check_planes(tensor, {{"codes", {"i32"}, in / word_codes, out},
                                      {"zeros", {"i32"}, groups, divide_up(out, word_codes)},
                                      {"scales", {"f16", "bf16", "f32"}, groups, out},
                                      {"group_index", {"i32"}, in, 1, true}}));
  if (find_plane(tensor, "group_index") != nullptr && groups > kIndexedGroupsMax)
    return mortise::fail(mortise::Code::limit, std::string(mortise::view(tensor.name)),
                         std::string(tensor.format) + ": " + std::to_string(groups) +
                             " groups with an index; the limit is " + std::to_string(kIndexedGroupsMax));
  return {};
}

void decode_rows(const mortise_tensor& tensor, uint32_t bits, const void* const* planes, uint64_t row0,
                 uint64_t rows, float* out) {
  const uint64_t in = tensor.shape[1], group = static_cast<uint64_t>(param(tensor, "group_size"));
  const Source source = {plane_data(tensor, planes, "codes"),
                         plane_data(tensor, planes, "zeros"),
                         {plane_data(tensor, planes, "scales"), find_plane(tensor, "scales")->dtype},
                         plane_data(tensor, planes, "group_index"),
                         bits,
                         32 / bits,
                         in,
                         tensor.shape[0],
                         group,
                         divide_up(in, group),
                         static_cast<uint32_t>(param(tensor, "zero_offset"))};
  for (uint64_t i = 0; i < rows; i += kRows) {
    const uint64_t count = std::min(kRows, rows - i);
    if (source.index == nullptr)
      source.decode_grouped(row0 + i, count, out + i * in);
    else
      source.decode_indexed(row0 + i, count, out + i * in);
  }
}

const mortise_format kInt4Table = {sizeof(mortise_format), 0, "gptq.int4/1", 0, 0, validate_tensor<4>,
                                   decode_tensor_rows<4>};
const mortise_format kInt8Table = {sizeof(mortise_format), 0, "gptq.int8/1", 0, 0, validate_tensor<8>,
                                   decode_tensor_rows<8>};

}  // namespace gptq
