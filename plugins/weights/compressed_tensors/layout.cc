// The formats of compressed-tensors. Thread rule and flow: see layout.h. Compiled with -O3.
#include "layout.h"

#include "planar/decode.h"
#include "planar/planar.h"

namespace compressed_tensors {
namespace {

using namespace mortise::planar;

constexpr uint64_t kChunk = 4096;  // codes of a row that are unpacked at once

/// The float of each code of 8 bits: sign, 4 bits of exponent with bias 7, 3 of mantissa (OCP FP8, E4M3).
constexpr std::array<float, 256> fp8_values() {
  std::array<float, 256> out{};
  for (uint32_t code = 0; code < 256; ++code) {
    const uint32_t exponent = code >> 3 & 15, mantissa = code & 7;
    float value = static_cast<float>(exponent == 0 ? mantissa : 8 + mantissa) * 0x1p-9f;
    for (uint32_t e = 1; e < exponent; ++e) value *= 2;
    if ((code & 127) == 127) value = __builtin_nanf("");
    out[code] = code < 128 ? value : -value;
  }
  return out;
}
constexpr std::array<float, 256> kFp8 = fp8_values();

/// One tensor's planes.
struct Source {
  const uint8_t *codes, *zeros;  // zeros null: none
  Reals scales;
  const uint8_t* index;  // null: group k / group
  Kind kind;
  bool packed_zeros;
  uint64_t in, group, group_rows, groups;  // groups of a row

  float scale(uint64_t row, uint64_t g) const { return scales[row / group_rows * groups + g]; }

  /// What is taken from a code as `pieces` has it. Codes and zero points of words have the same offset.
  int32_t zero(uint64_t row, uint64_t g) const {
    const int32_t offset = kind == Kind::pack4 ? 8 : kind == Kind::pack8 ? 128 : 0;
    if (zeros == nullptr) return offset;
    const uint64_t at = row / group_rows;
    if (!packed_zeros) return offset + load<int8_t>(zeros, at * groups + g);
    const uint32_t bits = bits_of(kind), word_codes = 32 / bits;
    const auto word = load<uint32_t>(zeros, at / word_codes * groups + g);
    return static_cast<int32_t>(word >> bits * (at % word_codes) & ((1u << bits) - 1));
  }

  /// The codes of a row from k on, as bytes that need no unpacking; `room` takes them where they do.
  const uint8_t* piece(uint64_t row, uint64_t k, uint64_t count, uint8_t* room) const {
    if (kind == Kind::int8 || kind == Kind::fp8) return codes + row * in + k;
    const uint64_t row_bytes = divide_up(in * bits_of(kind), 32) * sizeof(uint32_t);
    if (kind == Kind::pack8) return codes + row * row_bytes + k;
    nibbles(codes + row * row_bytes + k / 2, divide_up(count, 2), room);
    return room;
  }

  /// `count` codes of one group.
  void run(const uint8_t* from, uint64_t count, uint64_t row, uint64_t g, float* to) const {
    if (kind == Kind::fp8) {
      const float s = scale(row, g);
      for (uint64_t i = 0; i < count; ++i) to[i] = kFp8[from[i]] * s;
    } else if (kind == Kind::int8) {
      scale_run(reinterpret_cast<const int8_t*>(from), count, zero(row, g), scale(row, g), to);
    } else {
      scale_run(from, count, zero(row, g), scale(row, g), to);
    }
  }

  void decode_grouped(uint64_t row, float* to) const {
    uint8_t room[kChunk];
    for (uint64_t k0 = 0; k0 < in; k0 += kChunk) {
      const uint64_t k1 = std::min(in, k0 + kChunk);
      const uint8_t* from = piece(row, k0, k1 - k0, room);
      for (uint64_t k = k0; k < k1;) {
        const uint64_t g = k / group, end = std::min(k1, (g + 1) * group);
        run(from + (k - k0), end - k, row, g, to + k);
        k = end;
      }
    }
  }

  void decode_indexed(uint64_t row, float* to) const {
    int32_t row_zeros[kIndexedGroupsMax];
    float row_scales[kIndexedGroupsMax];
    for (uint64_t g = 0; g < groups; ++g) {
      row_zeros[g] = zero(row, g);
      row_scales[g] = scale(row, g);
    }
    uint8_t room[kChunk];
    for (uint64_t k = 0; k < in; k += kChunk) {
      const uint64_t count = std::min(kChunk, in - k);
      const uint8_t* from = piece(row, k, count, room);
      const uint8_t* groups_of = index + k * sizeof(int32_t);
      const auto rest = static_cast<uint32_t>(groups);
      if (kind == Kind::int8)
        scale_indexed(reinterpret_cast<const int8_t*>(from), count, groups_of, rest, row_zeros, row_scales,
                      to + k);
      else
        scale_indexed(from, count, groups_of, rest, row_zeros, row_scales, to + k);
    }
  }
};

template <Kind kind>
mortise_status validate_tensor(void*, const mortise_tensor* tensor, mortise_error* error) noexcept {
  return mortise::guard(error, [&] { return validate(*tensor, kind); });
}

template <Kind kind>
void decode_tensor_rows(void*, const mortise_tensor* tensor, const void* const* planes, uint64_t row0,
                        uint64_t rows, float* out) noexcept {
  decode_rows(*tensor, kind, planes, row0, rows, out);
}

template <Kind kind>
constexpr mortise_format table(const char* id) {
  return {sizeof(mortise_format), 0, id, 0, 0, validate_tensor<kind>, decode_tensor_rows<kind>};
}

Wanted codes_plane(Kind kind, uint64_t out, uint64_t in) {
  if (kind == Kind::int8) return {"codes", {"i8"}, out, in};
  if (kind == Kind::fp8) return {"codes", {"f8_e4m3"}, out, in};
  return {"codes", {"i32"}, out, divide_up(in * bits_of(kind), 32)};
}

}  // namespace

mortise::Result<void> validate(const mortise_tensor& tensor, Kind kind) {
  MORTISE_CHECK(check_matrix(tensor, {"bits", "group_size", "group_rows"}));
  const uint64_t out = tensor.shape[0], in = tensor.shape[1];
  MORTISE_CHECK(checked_param(tensor, "bits", bits_of(kind), bits_of(kind)));
  MORTISE_TRY(group, checked_param(tensor, "group_size", 1, static_cast<int64_t>(in)));
  MORTISE_TRY(group_rows, checked_param(tensor, "group_rows", 1, static_cast<int64_t>(out)));
  const uint64_t scale_rows = divide_up(out, static_cast<uint64_t>(group_rows));
  const uint64_t groups = divide_up(in, static_cast<uint64_t>(group));
  std::vector<Wanted> wanted = {codes_plane(kind, out, in),
                                {"scales", {"f16", "bf16", "f32"}, scale_rows, groups}};
  const mortise_plane* zeros = find_plane(tensor, "zeros");
  const bool packed = kind == Kind::pack4 || kind == Kind::pack8;
  if (packed && zeros != nullptr && std::string_view(zeros->dtype) == "i32")
    wanted.push_back({"zeros", {"i32"}, divide_up(scale_rows, 32 / bits_of(kind)), groups});
  else if (kind != Kind::fp8)
    wanted.push_back({"zeros", {"i8"}, scale_rows, groups, true});
  if (group_rows == 1 && kind != Kind::fp8) wanted.push_back({"group_index", {"i32"}, in, 1, true});
  MORTISE_CHECK(check_planes(tensor, wanted));
  if (find_plane(tensor, "group_index") != nullptr && groups > kIndexedGroupsMax)
    return mortise::fail(mortise::Code::limit, std::string(mortise::view(tensor.name)),
                         std::string(tensor.format) + ": " + std::to_string(groups) +
                             " groups with an index; the limit is " + std::to_string(kIndexedGroupsMax));
  return {};
}

void decode_rows(const mortise_tensor& tensor, Kind kind, const void* const* planes, uint64_t row0,
                 uint64_t rows, float* out) {
  const uint64_t in = tensor.shape[1], group = static_cast<uint64_t>(param(tensor, "group_size"));
  const mortise_plane* zeros = find_plane(tensor, "zeros");
  const Source source = {plane_data(tensor, planes, "codes"),
                         plane_data(tensor, planes, "zeros"),
                         {plane_data(tensor, planes, "scales"), find_plane(tensor, "scales")->dtype},
                         plane_data(tensor, planes, "group_index"),
                         kind,
                         zeros != nullptr && std::string_view(zeros->dtype) == "i32",
                         in,
                         group,
                         static_cast<uint64_t>(param(tensor, "group_rows")),
                         divide_up(in, group)};
  for (uint64_t i = 0; i < rows; ++i) {
    if (source.index == nullptr)
      source.decode_grouped(row0 + i, out + i * in);
    else
      source.decode_indexed(row0 + i, out + i * in);
  }
}

const std::array<mortise_format, kKinds> kTables = {
    table<Kind::pack4>("compressed.pack4/1"), table<Kind::pack8>("compressed.pack8/1"),
    table<Kind::int8>("compressed.int8/1"), table<Kind::fp8>("compressed.fp8/1")};

}  // namespace compressed_tensors
