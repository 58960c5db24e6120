// linear/reference: places of planes. Thread rule and flow: see planes.h.
#include "planes.h"

namespace linear_reference {
namespace {

constexpr uint64_t kPlaneAlign = 64;

uint64_t align(uint64_t bytes) { return (bytes + kPlaneAlign - 1) / kPlaneAlign * kPlaneAlign; }

uint64_t row_count(const mortise_tensor& tensor) {
  uint64_t rows = 1;
  for (uint32_t d = 0; d + 1 < tensor.rank; ++d) rows *= tensor.shape[d];
  return rows;
}

/// Bit i: plane i holds the tensor's rows one after another.
uint64_t row_planes(const mortise_format* format) {
  if (format->block_elements != 0) return 1;
  return MORTISE_HAS(format, mortise_format, row_planes) ? format->row_planes : 0;
}

}  // namespace

Planes place_planes(const mortise_linear_desc& desc) {
  const uint64_t rows = row_count(*desc.tensor), by_rows = row_planes(desc.format);
  Planes out;
  out.is_cut = by_rows != 0;
  for (uint32_t i = 0; i < desc.tensor->plane_count; ++i) {
    const uint64_t length = desc.tensor->planes[i]->length;
    const uint64_t row_bytes = i < 64 && (by_rows >> i & 1) != 0 ? length / rows : 0;
    const PlacedPlane plane{desc.row0 * row_bytes, row_bytes != 0 ? desc.rows * row_bytes : length,
                            out.bytes};
    out.list.push_back(plane);
    // A single plane has no neighbour: its packed bytes are those of the file.
    out.bytes += desc.tensor->plane_count == 1 ? plane.bytes : align(plane.bytes);
  }
  return out;
}

CutTensor::CutTensor(const mortise_linear_desc& desc, const Planes& placed) : tensor(*desc.tensor) {
  for (uint32_t i = 0; i < desc.tensor->plane_count; ++i) {
    mortise_plane plane = *desc.tensor->planes[i];
    if (plane.length != placed.list[i].bytes && plane.shape[0] != 0) plane.shape[0] = desc.rows;
    plane.length = placed.list[i].bytes;
    planes_.push_back(plane);
  }
  for (const mortise_plane& plane : planes_) pointers_.push_back(&plane);
  tensor.rank = 2;
  tensor.shape[0] = desc.rows;
  tensor.shape[1] = desc.k;
  tensor.planes = pointers_.data();
}

}  // namespace linear_reference
