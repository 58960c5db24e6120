// Pieces of rows on the pool. Thread rule and flow: see pump.h.
#include "pump.h"

#include <algorithm>
#include <memory>
#include <mutex>

namespace mortise::convert {
namespace {

constexpr uint64_t kRowUnit = 64;  // what write_rows takes multiples of

/// What a writer is told of the tensors; owns the structs.
struct Described {
  std::vector<mortise_tensor> tensors;
  std::vector<const mortise_tensor*> pointers;
  std::vector<std::vector<const mortise_attr*>> params;
  std::vector<mortise_write_blob> blobs;
  std::vector<const mortise_write_blob*> blob_pointers;
  std::vector<const mortise_write_meta*> metas;
  mortise_write_plan plan{};
};

std::unique_ptr<Described> describe(const Plan& plan) {
  auto out = std::make_unique<Described>();
  out->params.reserve(plan.tensors.size());
  for (const Recipe& recipe : plan.tensors) {
    mortise_tensor tensor{};
    tensor.size = sizeof(tensor);
    tensor.rank = static_cast<uint32_t>(recipe.shape.size());
    tensor.name = str(recipe.name);
    tensor.format = recipe.format.c_str();
    std::copy(recipe.shape.begin(), recipe.shape.end(), tensor.shape);
    auto& params = out->params.emplace_back();
    for (const mortise_attr& param : recipe.params) params.push_back(&param);
    tensor.param_count = static_cast<uint32_t>(params.size());
    tensor.params = params.data();
    out->tensors.push_back(tensor);
  }
  for (const mortise_tensor& tensor : out->tensors) out->pointers.push_back(&tensor);
  for (const auto& [name, text] : plan.blobs)
    out->blobs.push_back({sizeof(mortise_write_blob),
                          0,
                          str(name),
                          {reinterpret_cast<const uint8_t*>(text.data()), text.size()}});
  for (const mortise_write_blob& blob : out->blobs) out->blob_pointers.push_back(&blob);
  out->metas = plan.meta.list();
  out->plan = {sizeof(mortise_write_plan), 0,
               out->metas.size(),          out->blob_pointers.size(),
               out->pointers.size(),       out->metas.data(),
               out->blob_pointers.data(),  out->pointers.data()};
  return out;
}

/// The open writer; abandons what was written unless end was called.
class Writer {
 public:
  static Result<std::unique_ptr<Writer>> begin(const mortise_model_service& model, const Plan& plan) {
    std::unique_ptr<Writer> out(new Writer());
    mortise_error error = c_error();
    mortise_status status = model.writer(model.ctx, str(plan.writer), &out->calls_, &out->self_, &error);
    if (status != MORTISE_OK) return pass(from_c(status, error));
    out->described_ = describe(plan);
    status =
        out->calls_->write_begin(out->self_, str(plan.path), &out->described_->plan, &out->writer_, &error);
    if (status != MORTISE_OK) return pass(from_c(status, error));
    return out;
  }
  ~Writer() {
    if (writer_ != nullptr) calls_->write_abort(self_, writer_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Result<void> rows(uint64_t index, uint64_t row0, uint64_t rows, const float* x) {
    mortise_error error = c_error();
    const mortise_status status = calls_->write_rows(self_, writer_, index, row0, rows, x, nullptr, &error);
    return status == MORTISE_OK ? Result<void>() : pass(from_c(status, error));
  }
  Result<void> end() {
    mortise_error error = c_error();
    const mortise_status status = calls_->write_end(self_, std::exchange(writer_, nullptr), &error);
    return status == MORTISE_OK ? Result<void>() : pass(from_c(status, error));
  }

 private:
  Writer() = default;
  std::unique_ptr<Described> described_;
  const mortise_weights* calls_ = nullptr;
  void* self_ = nullptr;
  void* writer_ = nullptr;
};

/// Rows [begin, end) of one tensor, cut into a task each `step` rows.
struct Job {
  const mortise_model_service& model;
  Writer& writer;
  const Recipe& recipe;
  uint64_t index;
  uint64_t begin, end, step;
  std::vector<float> slice;
  std::mutex mutex;
  Result<void> result;
};

void run_piece(void* arg, uint32_t task, uint32_t) {
  auto& job = *static_cast<Job*>(arg);
  const Result<void> done = [&]() -> Result<void> {
    const uint64_t row0 = job.begin + task * job.step, rows = std::min(job.step, job.end - row0);
    std::vector<float> x(rows * job.recipe.columns());
    MORTISE_CHECK(read_rows(job.model, job.recipe, row0, rows, job.slice, x.data()));
    return job.writer.rows(job.index, row0, rows, x.data());
  }();
  if (done) return;
  const std::lock_guard lock(job.mutex);
  if (job.result) job.result = done;
}

}  // namespace

uint64_t elements(const Plan& plan) {
  uint64_t out = 0;
  for (const Recipe& recipe : plan.tensors) out += recipe.rows() * recipe.columns();
  return out;
}

Result<void> write(Host host, const mortise_model_service& model, const Plan& plan,
                   const std::function<bool(uint64_t done)>& progress) {
  MORTISE_TRY(writer, Writer::begin(model, plan));
  uint64_t done = 0;
  for (uint64_t index = 0; index < plan.tensors.size(); ++index) {
    const Recipe& recipe = plan.tensors[index];
    const uint64_t columns = recipe.columns();
    const uint64_t step =
        std::max<uint64_t>(kPieceBytes / (std::max<uint64_t>(columns, 1) * sizeof(float)) / kRowUnit, 1) *
        kRowUnit;
    // A batch between two looks at progress; of a transposed tensor a batch is one slice.
    const uint64_t batch = recipe.is_transposed ? slice_rows(recipe) : step * host.workers() * 4;
    for (uint64_t begin = 0; begin < recipe.rows(); begin += batch) {
      Job job{model, *writer, recipe, index, begin, std::min(begin + batch, recipe.rows()), step, {}, {}, {}};
      if (recipe.is_transposed) {
        MORTISE_TRY(slice, load_slice(model, recipe, begin / batch));
        job.slice = std::move(slice);
      }
      host.c()->parallel(host.c()->ctx, static_cast<uint32_t>((job.end - begin + step - 1) / step),
                         &run_piece, &job);
      MORTISE_CHECK(job.result);
      done += (job.end - begin) * columns;
      if (!progress(done)) return fail(Code::cancelled, plan.path, kInterrupted);
    }
    for (const mortise_tensor* part : recipe.parts) model.release(model.ctx, part);
  }
  return writer->end();
}

}  // namespace mortise::convert
