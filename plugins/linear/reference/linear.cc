// linear/reference: the functions of the kind; see linear.h.
#include "linear.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "planes.h"

namespace linear_reference {
namespace {

using mortise::Code;
using mortise::Result;

// Scratch for decoded rows: within the first cache while few rows of x pass over them, within the second when
// there are many. At least kRowsMin rows, so that one pass over x serves several.
constexpr uint64_t kDecodedBytesFew = 24 * 1024;
constexpr uint64_t kDecodedBytesMany = 192 * 1024;
constexpr uint64_t kManyRows = 16;
constexpr uint64_t kRowsMin = 4;
// Of layouts of several planes, whose words may run across the rows: eight then cost little more than one.
constexpr uint64_t kPlanarRowsMin = 8;
// Multiply-adds of a task; decoding an element counts as kDecodeCost of them.
constexpr uint64_t kTaskWork = 600'000;
constexpr uint64_t kDecodeCost = 4;
// Sums of 16 lanes stay below this times sum |x| |w| up to k = 25 000 (k / 16 + 5 roundings of 2^-24).
constexpr double kMaxError = 1e-4;

const mortise_linear_claim kClaim = {
    sizeof(mortise_linear_claim),
    1,
    "*",
    "act.f32/1",
    "cpu",
    "",
    "reference",
    "weights decoded to f32, f32 products and sums in 16 lanes",
    MORTISE_LINEAR_BIAS | MORTISE_LINEAR_ADD | MORTISE_LINEAR_UNPACK,
    1,
    kMaxError,
};

struct Weight {
  const Kernels* kernels;
  const mortise_linear_desc* desc;
  std::vector<const void*> planes;
  std::unique_ptr<CutTensor> cut;  // null: the planes hold the whole tensor

  void decode(uint64_t row, uint64_t rows, float* out) const {
    const mortise_tensor* tensor = cut == nullptr ? desc->tensor : &cut->tensor;
    const uint64_t row0 = cut == nullptr ? desc->row0 : 0;
    desc->format->decode_rows(desc->format_self, tensor, planes.data(), row0 + row, rows, out);
  }
};

const mortise_linear_claim* const* claims(void*, uint32_t* count) {
  static constexpr std::array<const mortise_linear_claim*, 1> kClaims = {&kClaim};
  *count = kClaims.size();
  return kClaims.data();
}

mortise_status accepts(void*, uint32_t, const mortise_linear_desc* desc, mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    const mortise_format* format = desc->format;
    if (!MORTISE_HAS(format, mortise_format, decode_rows) || format->decode_rows == nullptr)
      return mortise::fail(Code::unsupported, "linear/reference", "the format has no decoder");
    if (desc->rows == 0 || desc->k == 0)
      return mortise::fail(Code::unsupported, "linear/reference", "the weight is empty");
    if (format->block_elements != 0 && desc->k % format->block_elements != 0)
      return mortise::fail(Code::unsupported, "linear/reference", "a row is no whole number of blocks");
    return {};
  });
}

uint64_t packed_bytes(void*, uint32_t, const mortise_linear_desc* desc) { return place_planes(*desc).bytes; }

// Planes are taken over as they lie in the file, a part of each with each piece: what is kept whole is
// divided among the pieces like the rows, so that no piece waits for a whole plane to be read.
mortise_status pack(void*, uint32_t, const mortise_linear_desc* desc, const void* const* planes,
                    uint64_t row0, uint64_t rows, void* packed, mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    const Planes placed = place_planes(*desc);
    for (size_t i = 0; i < placed.list.size(); ++i) {
      const PlacedPlane& plane = placed.list[i];
      const auto bytes_before = [&](uint64_t row) {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(plane.bytes) * row / desc->rows);
      };
      const uint64_t begin = bytes_before(row0);
      std::memcpy(static_cast<uint8_t*>(packed) + plane.to + begin,
                  static_cast<const uint8_t*>(planes[i]) + plane.from + begin,
                  bytes_before(row0 + rows) - begin);
    }
    return {};
  });
}

mortise_status bind(void* self, uint32_t, const mortise_linear_desc* desc, const void* packed, void** weight,
                    mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    auto made = std::make_unique<Weight>();
    made->kernels = &static_cast<Reference*>(self)->kernels();
    made->desc = desc;
    const Planes placed = place_planes(*desc);
    for (const PlacedPlane& plane : placed.list)
      made->planes.push_back(static_cast<const uint8_t*>(packed) + plane.to);
    if (placed.is_cut) made->cut = std::make_unique<CutTensor>(*desc, placed);
    *weight = made.release();
    return {};
  });
}

void unbind(void*, void* weight) { delete static_cast<Weight*>(weight); }

void unpack_rows(void*, void* weight, const uint32_t* rows, uint64_t count, float* out) {
  const auto& w = *static_cast<Weight*>(weight);
  for (uint64_t i = 0; i < count; ++i) w.decode(rows[i], 1, out + i * w.desc->k);
}

uint64_t decoded_rows(const mortise_linear_desc& desc, uint64_t m) {
  const uint64_t bytes = m < kManyRows ? kDecodedBytesFew : kDecodedBytesMany;
  const uint64_t least = desc.format->block_elements == 0 ? kPlanarRowsMin : kRowsMin;
  return std::min(desc.rows, std::max(least, bytes / (desc.k * sizeof(float)) / kRowsMin * kRowsMin));
}

void plan(void*, uint32_t, const mortise_linear_desc* of, uint64_t m, uint32_t workers, mortise_plan* out) {
  const mortise_linear_desc& desc = *of;
  const uint64_t rows_min = m < kManyRows ? kRowsMin : 4 * kRowsMin;
  const uint64_t most = (desc.rows + rows_min - 1) / rows_min;
  const uint64_t wanted = (desc.rows * desc.k * (m + kDecodeCost) + kTaskWork - 1) / kTaskWork;
  // A whole number of tasks per worker, so that none idles at the end; one task where the work is tiny.
  const uint64_t even = wanted < 2 ? 1 : (wanted + workers - 1) / workers * workers;
  out->tasks = static_cast<uint32_t>(std::min(most, even));
  out->scratch_bytes = decoded_rows(desc, m) * desc.k * sizeof(float);
}

void run(void*, void* weight, const mortise_linear_args* args, uint32_t task, void* scratch) {
  const auto& w = *static_cast<Weight*>(weight);
  auto* decoded = static_cast<float*>(scratch);
  const uint64_t end = w.desc->rows * (task + 1) / args->tasks;
  const uint64_t most = decoded_rows(*w.desc, args->m);
  for (uint64_t n = w.desc->rows * task / args->tasks; n < end;) {
    const uint64_t rows = std::min(most, end - n);
    w.decode(n, rows, decoded);
    w.kernels->dot_rows({static_cast<const float*>(args->x), args->x_stride, args->m, decoded, rows,
                         w.desc->k, args->y + n, args->y_stride,
                         args->bias == nullptr ? nullptr : args->bias + n,
                         args->add == nullptr ? nullptr : args->add + n, args->add_stride});
    n += rows;
  }
}

}  // namespace

const Kernels& Reference::kernels() const {
  return isa_ == mortise::Isa::avx512 ? kernels_avx512
         : isa_ == mortise::Isa::avx2 ? kernels_avx2
                                      : kernels_base;
}

// act.f32/1 needs no preparation, so the three functions of it are absent.
const mortise_linear kTable = {
    sizeof(mortise_linear), 0,       &claims, &accepts, &packed_bytes, &pack, &bind, &unbind,
    &unpack_rows,           nullptr, nullptr, nullptr,  &plan,         &run,
};

}  // namespace linear_reference
