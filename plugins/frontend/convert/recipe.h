// How the rows of a tensor to be written come out of the source's tensors.
// Thread rule: constant once planned; read from any worker. Flow: the plan makes one per target tensor, the
// pump reads pieces of rows through it.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/frontend.h>

#include <string>
#include <vector>

namespace mortise::convert {

/// Order of a head's rows. RoPE that pairs neighbours wants rows (j, j + half) side by side.
enum class HeadOrder { as_is, to_interleaved, to_halves };

struct Recipe {
  std::string name;                  ///< in the target
  std::string format;                ///< id with revision
  std::vector<mortise_attr> params;  ///< the format's
  std::vector<uint64_t> shape;
  /// Rows one behind the other (an expert each, as a rule); empty: `values`.
  std::vector<const mortise_tensor*> parts;
  std::vector<float> values;
  /// Row r of the target is row (r / n) * source_rows + row_offset + r % n * row_stride of the parts, n being
  /// the rows of the target's slice (all of a matrix, one expert of a stack); source_rows 0: row r.
  uint64_t source_rows = 0, row_offset = 0, row_stride = 1;
  bool is_transposed = false;  ///< a part [k][n] (of rank 3: each slice) is written [n][k]
  HeadOrder head_order = HeadOrder::as_is;
  uint64_t head_rows = 0;           ///< of one head, where head_order is not as_is
  float add = 0;                    ///< to every value, before the scales
  std::vector<float> column_scale;  ///< [k] or empty; multiplies each row
  std::vector<float> row_scale;     ///< one per row or empty
  float add_last = 0;               ///< to every value, behind the scales

  uint64_t columns() const { return shape.back(); }
  uint64_t rows() const;
};

/// Rows [row0, row0 + rows) as float32 to out[rows][columns]. Callable from workers, on distinct `out`.
/// `slice`: for transposed recipes the source that load_slice filled, else unused.
Result<void> read_rows(const mortise_model_service& model, const Recipe& recipe, uint64_t row0, uint64_t rows,
                       const std::vector<float>& slice, float* out);

/// Of a transposed recipe: rows of one slice of the target, and the whole source slice [columns][rows].
uint64_t slice_rows(const Recipe& recipe);
Result<std::vector<float>> load_slice(const mortise_model_service& model, const Recipe& recipe,
                                      uint64_t index);

/// rank 2 and up: all dimensions but the last multiplied.
uint64_t rows_of(const mortise_tensor& tensor);

}  // namespace mortise::convert
