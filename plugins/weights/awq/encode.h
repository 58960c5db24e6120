// Rounding to AWQ's four bits, and packing. Thread rule: pure; distinct rows of one Planes may be encoded at
// once where they share no word. Flow: the writer encodes the rows that it is handed.
#pragma once
#include <cstdint>
#include <vector>

#include "gemm.h"

namespace awq {

struct Shape {
  uint64_t out = 0, in = 0, group = 0;
  uint64_t groups() const { return in / group; }
  uint64_t words() const { return out / kWordCodes; }  // of one input
};

/// A linear as the layout has it (docs/formats/awq.md).
struct Planes {
  explicit Planes(const Shape& shape)
      : codes(shape.in * shape.words()),
        zeros(shape.groups() * shape.words()),
        scales(shape.groups() * shape.out) {}
  std::vector<uint32_t> codes, zeros;
  std::vector<uint16_t> scales;  // float16
};

/// Encodes x[rows][in] as rows [row0, row0 + rows); row0 and rows are multiples of 8. Each group spans from
/// its least to its largest value, and 0 at least: scale = (max - min) / 15, zero = round(-min / scale), as
/// AutoAWQ has it. With `importance` [in] a narrower span is taken where that lowers sum importance *
/// error^2. False where a value is not finite or the scale no finite half.
bool encode_rows(const Shape& shape, uint64_t row0, uint64_t rows, const float* x, const float* importance,
                 Planes* out);

}  // namespace awq
