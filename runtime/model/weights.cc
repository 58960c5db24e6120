// Weights: choice, packing on the pool, handles. Thread rule and flow: see weights.h.
#include "model/weights.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "host/memory.h"
#include "model/pack_source.h"

namespace mortise {
namespace {

constexpr uint64_t kPackTaskBytes = 1 << 20;  // of the packed weight, per task

struct PackJob {
  const Weight* weight;
  const PackSource* source;
  uint64_t step;  // rows per task
  std::mutex mutex;
  bool failed = false;
  Error error;
};

void pack_task(void* arg, uint32_t task, uint32_t) {
  auto& job = *static_cast<PackJob*>(arg);
  const Weight& w = *job.weight;
  const uint64_t row0 = task * job.step, rows = std::min(job.step, w.desc.rows - row0);
  mortise_error error = c_error();
  const mortise_status status = w.calls->pack(w.provider->self, w.choice.claim, &w.desc, job.source->planes(),
                                              row0, rows, w.packed, &error);
  job.source->release(row0, rows);
  if (status == MORTISE_OK) return;
  std::lock_guard lock(job.mutex);
  job.failed = true;
  job.error = from_c(status, error);
}

}  // namespace

Result<std::unique_ptr<Weights>> Weights::choose(const Graph& graph, const OpenModel& model,
                                                 const Formats& formats, const Chooser& chooser) {
  std::unique_ptr<Weights> out(new Weights());
  out->list_.resize(graph.matrices.size());
  for (size_t i = 0; i < graph.matrices.size(); ++i)
    MORTISE_CHECK(out->choose_one(graph.matrices[i], model, formats, chooser, &out->list_[i]));
  return out;
}

Result<void> Weights::choose_one(const Matrix& matrix, const OpenModel& model, const Formats& formats,
                                 const Chooser& chooser, Weight* out) {
  MORTISE_TRY(format, formats.of(*matrix.tensor, model.path()));
  out->desc = {
      sizeof(mortise_linear_desc),      0,           matrix.row0, matrix.rows, matrix.k, matrix.tensor,
      &format->table<mortise_format>(), format->self};
  out->is_transposed = matrix.is_transposed;
  if (!matrix.is_weight) return {};
  const uint64_t features =
      (matrix.has_bias ? MORTISE_LINEAR_BIAS : 0) | (matrix.is_table ? MORTISE_LINEAR_UNPACK : 0);
  MORTISE_TRY(choice, chooser.linear({&out->desc, features}));
  out->choice = std::move(choice);
  out->provider = &chooser.linear_providers()[out->choice.provider];
  out->calls = &out->provider->table<mortise_linear>();
  uint32_t count = 0;
  out->claim = out->calls->claims(out->provider->self, &count)[out->choice.claim];
  out->packed_bytes = out->calls->packed_bytes(out->provider->self, out->choice.claim, &out->desc);
  return {};
}

Weights::~Weights() {
  for (Weight& w : list_) {
    if (w.handle != nullptr) w.calls->unbind(w.provider->self, w.handle);
    free_aligned(w.packed);
  }
}

uint64_t Weights::packed_bytes() const {
  uint64_t sum = 0;
  for (const Weight& w : list_) sum += w.packed_bytes;
  return sum;
}

Result<void> Weights::pack(const OpenModel& model, Pool& pool,
                           const std::function<void(uint64_t)>& progress) {
  uint64_t done = 0;
  for (Weight& weight : list_) {
    if (!weight.is_packed()) {
      MORTISE_TRY(planes, model.planes(*weight.desc.tensor));
      weight.planes = std::move(planes);
      continue;
    }
    MORTISE_CHECK(pack_one(model, pool, &weight));
    done += weight.packed_bytes;
    progress(done);
  }
  // What pieces share, and what was read out of their order.
  for (const Weight& weight : list_)
    if (weight.is_packed()) model.release(*weight.desc.tensor);
  return {};
}

Result<void> Weights::pack_one(const OpenModel& model, Pool& pool, Weight* weight) {
  const std::string name(view(weight->desc.tensor->name));
  MORTISE_TRY(source, PackSource::open(*weight, model, &pool));
  weight->packed = allocate_aligned(weight->packed_bytes, 64);
  if (weight->packed == nullptr)
    return fail(Code::no_memory, model.path(),
                "no memory for the " + std::to_string(weight->packed_bytes) + " bytes of '" + name +
                    "'; see `mortise explain`");
  const uint64_t unit = std::max<uint64_t>(weight->claim->pack_rows, 1);
  const uint64_t row_bytes = std::max<uint64_t>(weight->packed_bytes / weight->desc.rows, 1);
  PackJob job{weight, &source, std::max<uint64_t>(kPackTaskBytes / row_bytes / unit, 1) * unit};
  pool.parallel(static_cast<uint32_t>((weight->desc.rows + job.step - 1) / job.step), pack_task, &job);
  if (job.failed) {
    job.error.where = job.error.where.empty() ? model.path() + ": " + name : job.error.where;
    return pass(job.error);
  }
  mortise_error error = c_error();
  const mortise_status status = weight->calls->bind(weight->provider->self, weight->choice.claim,
                                                    &weight->desc, weight->packed, &weight->handle, &error);
  return status == MORTISE_OK ? Result<void>() : pass(from_c(status, error));
}

void gather_rows(const Weight& weight, const uint32_t* ids, uint64_t count, float* out) {
  if (weight.is_packed()) {
    weight.calls->unpack_rows(weight.provider->self, weight.handle, ids, count, out);
    return;
  }
  const mortise_linear_desc& d = weight.desc;
  for (uint64_t i = 0; i < count; ++i)
    d.format->decode_rows(d.format_self, d.tensor, weight.planes.data(), d.row0 + ids[i], 1, out + i * d.k);
}

}  // namespace mortise
