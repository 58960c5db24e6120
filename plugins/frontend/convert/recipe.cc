// Reading rows through a recipe. Thread rule and flow: see recipe.h.
#include "recipe.h"

#include <algorithm>

namespace mortise::convert {
namespace {

Result<void> read(const mortise_model_service& model, const mortise_tensor& tensor, uint64_t row0,
                  uint64_t rows, float* out) {
  mortise_error error = c_error();
  const mortise_status status = model.read_rows(model.ctx, &tensor, row0, rows, out, &error);
  return status == MORTISE_OK ? Result<void>() : pass(from_c(status, error));
}

/// Rows of the parts, numbered through.
Result<void> read_through(const mortise_model_service& model, const Recipe& recipe, uint64_t row0,
                          uint64_t rows, float* out) {
  for (const mortise_tensor* part : recipe.parts) {
    const uint64_t have = rows_of(*part);
    if (row0 >= have) {
      row0 -= have;
      continue;
    }
    const uint64_t count = std::min(rows, have - row0);
    MORTISE_CHECK(read(model, *part, row0, count, out));
    out += count * recipe.columns();
    rows -= count;
    row0 = 0;
    if (rows == 0) return {};
  }
  return fail(Code::internal, recipe.name, "has fewer rows than planned");
}

/// Rows out of the parts, in the target's order.
Result<void> read_parts(const mortise_model_service& model, const Recipe& recipe, uint64_t row0,
                        uint64_t rows, float* out) {
  if (recipe.source_rows == 0) return read_through(model, recipe, row0, rows, out);
  const uint64_t n = slice_rows(recipe), k = recipe.columns(), stride = recipe.row_stride;
  std::vector<float> wide;
  while (rows > 0) {
    const uint64_t count = std::min(rows, n - row0 % n);
    const uint64_t from = row0 / n * recipe.source_rows + recipe.row_offset + row0 % n * stride;
    wide.resize(((count - 1) * stride + 1) * k);
    MORTISE_CHECK(read_through(model, recipe, from, (count - 1) * stride + 1, wide.data()));
    for (uint64_t row = 0; row < count; ++row, out += k) std::copy_n(wide.data() + row * stride * k, k, out);
    row0 += count;
    rows -= count;
  }
  return {};
}

/// Where row `to` of a head of `size` rows comes from.
uint64_t source_row(HeadOrder order, uint64_t to, uint64_t size) {
  const uint64_t half = size / 2;
  return order == HeadOrder::to_interleaved ? to / 2 + (to % 2) * half : (to % half) * 2 + to / half;
}

Result<void> read_heads(const mortise_model_service& model, const Recipe& recipe, uint64_t row0,
                        uint64_t rows, float* out) {
  const uint64_t size = recipe.head_rows, k = recipe.columns();
  std::vector<float> head(size * k);
  for (uint64_t row = row0; row < row0 + rows;) {
    const uint64_t begin = row / size * size, end = std::min(begin + size, row0 + rows);
    MORTISE_CHECK(read_parts(model, recipe, begin, size, head.data()));
    for (; row < end; ++row, out += k)
      std::copy_n(head.data() + source_row(recipe.head_order, row - begin, size) * k, k, out);
  }
  return {};
}

void adjust(const Recipe& recipe, uint64_t row0, uint64_t rows, float* out) {
  const uint64_t k = recipe.columns();
  for (uint64_t row = 0; row < rows; ++row, out += k) {
    if (recipe.add != 0)
      for (uint64_t c = 0; c < k; ++c) out[c] += recipe.add;
    if (!recipe.column_scale.empty())
      for (uint64_t c = 0; c < k; ++c) out[c] *= recipe.column_scale[c];
    if (!recipe.row_scale.empty())
      for (uint64_t c = 0; c < k; ++c) out[c] *= recipe.row_scale[row0 + row];
    if (recipe.add_last != 0)
      for (uint64_t c = 0; c < k; ++c) out[c] += recipe.add_last;
  }
}

}  // namespace

uint64_t rows_of(const mortise_tensor& tensor) {
  uint64_t rows = 1;
  for (uint32_t d = 0; d + 1 < tensor.rank; ++d) rows *= tensor.shape[d];
  return rows;
}

uint64_t Recipe::rows() const {
  uint64_t out = 1;
  for (size_t d = 0; d + 1 < shape.size(); ++d) out *= shape[d];
  return out;
}

uint64_t slice_rows(const Recipe& recipe) {
  return recipe.shape.size() < 2 ? 1 : recipe.shape[recipe.shape.size() - 2];
}

Result<std::vector<float>> load_slice(const mortise_model_service& model, const Recipe& recipe,
                                      uint64_t index) {
  const uint64_t rows = recipe.source_rows == 0 ? slice_rows(recipe) : recipe.source_rows;
  const uint64_t columns = recipe.columns();
  std::vector<float> out(rows * columns);
  // The source's rows are the target's columns.
  uint64_t row0 = index * columns;
  for (const mortise_tensor* part : recipe.parts) {
    const uint64_t have = rows_of(*part);
    if (row0 < have) {
      MORTISE_CHECK(read(model, *part, row0, columns, out.data()));
      return out;
    }
    row0 -= have;
  }
  return fail(Code::internal, recipe.name, "has fewer slices than planned");
}

Result<void> read_rows(const mortise_model_service& model, const Recipe& recipe, uint64_t row0, uint64_t rows,
                       const std::vector<float>& slice, float* out) {
  const uint64_t k = recipe.columns();
  if (recipe.parts.empty()) {
    std::copy_n(recipe.values.data() + row0 * k, rows * k, out);
  } else if (recipe.is_transposed) {
    const uint64_t n = slice_rows(recipe), wide = recipe.source_rows == 0 ? n : recipe.source_rows;
    for (uint64_t row = 0; row < rows; ++row) {
      const float* from = slice.data() + recipe.row_offset + (row0 + row) % n * recipe.row_stride;
      for (uint64_t c = 0; c < k; ++c) out[row * k + c] = from[c * wide];
    }
  } else if (recipe.head_order != HeadOrder::as_is) {
    MORTISE_CHECK(read_heads(model, recipe, row0, rows, out));
  } else {
    MORTISE_CHECK(read_parts(model, recipe, row0, rows, out));
  }
  adjust(recipe, row0, rows, out);
  return {};
}

}  // namespace mortise::convert
