// The writer. Thread rule and flow: see write.h.
#include "write.h"

#include "gemm.h"
#include "planar/module.h"
#include "planar/planar.h"

namespace awq {
namespace {

using namespace mortise::planar;
using mortise::Result;
namespace hf = mortise::hf;

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

Result<void> Writer::add(const mortise_tensor& tensor, std::vector<hf::OutTensor>* raw) {
  Target target;
  target.name = mortise::view(tensor.name);
  target.first = raw->size();
  if (std::string_view(tensor.format) != kGemmTable.id) {
    MORTISE_TRY(stored, hf::Stored::of(tensor));
    raw->push_back(stored.out());
    target.stored = std::move(stored);
    targets_.push_back(std::move(target));
    return {};
  }
  MORTISE_CHECK(check_shape(tensor));
  const std::string prefix(prefix_of(target.name, ".weight"));
  if (prefix.empty()) return bad_tensor(tensor, "only the weight of a linear is quantized");
  target.linear = std::make_unique<Linear>();
  Shape& shape = target.linear->shape;
  shape = {tensor.shape[0], tensor.shape[1], static_cast<uint64_t>(param(tensor, "group_size"))};
  target.linear->missing_rows = shape.out;
  const hf::Dtype *words = hf::find_dtype("I32"), *halves = hf::find_dtype("F16");
  raw->push_back({prefix + ".qweight", words, {shape.in, shape.words()}});
  raw->push_back({prefix + ".qzeros", words, {shape.groups(), shape.words()}});
  raw->push_back({prefix + ".scales", halves, {shape.groups(), shape.out}});
  targets_.push_back(std::move(target));
  return {};
}

Result<std::unique_ptr<Writer>> Writer::begin(std::string_view path, const mortise_write_plan& plan) {
  auto out = std::make_unique<Writer>();
  std::vector<hf::OutTensor> raw;
  for (uint64_t i = 0; i < plan.tensor_count; ++i) MORTISE_CHECK(out->add(*plan.tensors[i], &raw));
  MORTISE_TRY(folder, hf::FolderWriter::begin(path, plan, std::move(raw)));
  out->folder_ = std::move(folder);
  return out;
}

Result<void> Writer::rows(uint64_t index, uint64_t row0, uint64_t rows, const float* x,
                          const float* importance) {
  Target& target = targets_[index];
  if (target.linear == nullptr) return target.stored.write(*folder_, target.first, row0, rows, x);
  Linear& linear = *target.linear;
  {
    const std::lock_guard lock(linear.mutex);
    if (linear.planes == nullptr) linear.planes = std::make_unique<Planes>(linear.shape);
  }
  if (!encode_rows(linear.shape, row0, rows, x, importance, linear.planes.get()))
    return mortise::fail(mortise::Code::bad_data, hf::in_quotes(target.name),
                         "holds a value that is no number, or beyond what AWQ's half-precision scales reach");
  if (linear.missing_rows.fetch_sub(rows) != rows) return {};
  MORTISE_CHECK(flush(target));
  linear.planes.reset();
  return {};
}

Result<void> Writer::flush(const Target& target) const {
  const Planes& planes = *target.linear->planes;
  MORTISE_CHECK(folder_->write(target.first, 0, bytes_of(planes.codes)));
  MORTISE_CHECK(folder_->write(target.first + 1, 0, bytes_of(planes.zeros)));
  return folder_->write(target.first + 2, 0, bytes_of(planes.scales));
}

}  // namespace awq
