// PackSource: transposition and letting pages go. Thread rule and flow: see pack_source.h.
#include "model/pack_source.h"

#include <algorithm>
#include <cstring>

#include "model/weights.h"

namespace mortise {
namespace {

constexpr uint64_t kTileSide = 32;  // elements; a tile of each side stays in the first cache

/// to[slice][n][k] = from[slice][k][n], for columns n of one tile's width at a time.
struct TransposeJob {
  const uint8_t* from;
  uint8_t* to;
  uint64_t n, k, bytes;  // of an element
  uint64_t strips;       // of kTileSide columns, per slice

  void strip(uint64_t index) const {
    const uint64_t slice = index / strips * n * k, n0 = index % strips * kTileSide;
    const uint64_t n1 = std::min(n, n0 + kTileSide);
    for (uint64_t k0 = 0; k0 < k; k0 += kTileSide)
      for (uint64_t j = n0; j < n1; ++j)
        for (uint64_t i = k0; i < std::min(k, k0 + kTileSide); ++i)
          std::memcpy(to + (slice + j * k + i) * bytes, from + (slice + i * n + j) * bytes, bytes);
  }
};

}  // namespace

Result<PackSource> PackSource::open(const Weight& weight, const OpenModel& model, Pool* pool) {
  PackSource out(weight, model);
  MORTISE_TRY(planes, model.planes(*weight.desc.tensor));
  out.planes_ = std::move(planes);
  if (weight.is_transposed) MORTISE_CHECK(out.transpose(pool));
  return out;
}

Result<void> PackSource::transpose(Pool* pool) {
  const mortise_tensor& tensor = *weight_->desc.tensor;
  const uint64_t bytes = tensor.planes[0]->length;
  copy_.reset(allocate_aligned(bytes, 64));
  if (copy_ == nullptr)
    return fail(Code::no_memory, model_->path(),
                "no memory to transpose the " + std::to_string(bytes) + " bytes of '" +
                    std::string(view(tensor.name)) + "'");
  const uint64_t n = tensor.shape[tensor.rank - 2], k = tensor.shape[tensor.rank - 1];
  const uint64_t slices = tensor.rank == 3 ? tensor.shape[0] : 1, strips = (n + kTileSide - 1) / kTileSide;
  const TransposeJob job{static_cast<const uint8_t*>(planes_[0]),
                         static_cast<uint8_t*>(copy_.get()),
                         n,
                         k,
                         weight_->desc.format->block_bytes,
                         strips};
  const auto run = [](void* arg, uint32_t task, uint32_t) { static_cast<TransposeJob*>(arg)->strip(task); };
  const auto tasks = static_cast<uint32_t>(slices * strips);
  for (uint32_t i = 0; pool == nullptr && i < tasks; ++i) job.strip(i);
  if (pool != nullptr) pool->parallel(tasks, run, const_cast<TransposeJob*>(&job));
  planes_ = {copy_.get()};
  model_->release(tensor);
  return {};
}

void PackSource::release(uint64_t row0, uint64_t rows) const {
  if (weight_->is_transposed) return;
  const mortise_tensor& tensor = *weight_->desc.tensor;
  uint64_t all = 1;
  for (uint32_t d = 0; d + 1 < tensor.rank; ++d) all *= tensor.shape[d];
  model_->release_rows(tensor, weight_->desc.row0 + row0, rows, all);
}

}  // namespace mortise
