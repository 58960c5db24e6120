// What a weight is packed from: planes of the mapped file, or a transposed copy of them.
// Thread rule: made on the loading thread; release from any. Flow: Weights and the probe open one per weight,
// hand its planes to pack, and let the file's pages go piece by piece as they have been read.
#pragma once
#include <mortise/cpp/result.h>

#include <vector>

#include "host/memory.h"
#include "host/pool.h"
#include "model/open_model.h"

namespace mortise {

struct Weight;

class PackSource {
 public:
  /// Transposes where the weight wants it, on `pool` or, without one, on the calling thread. The weight and
  /// the model outlive the source. Errors: the data is not in the file, no memory for the copy.
  static Result<PackSource> open(const Weight& weight, const OpenModel& model, Pool* pool);

  const void* const* planes() const { return planes_.data(); }
  /// Rows [row0, row0 + rows) of the weight have been read. Their part of the file's pages is let go; a page
  /// that is needed again comes back from the file.
  void release(uint64_t row0, uint64_t rows) const;

 private:
  PackSource(const Weight& weight, const OpenModel& model) : weight_(&weight), model_(&model) {}
  Result<void> transpose(Pool* pool);

  const Weight* weight_;
  const OpenModel* model_;
  std::vector<const void*> planes_;
  AlignedMemory copy_;
};

}  // namespace mortise
