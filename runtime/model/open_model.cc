// OpenModel: what the weights plugin says is checked here before anything is built on it.
// Thread rule and flow: see open_model.h.
#include "model/open_model.h"

#include <mortise/cpp/reader.h>

namespace mortise {
namespace {

const mortise_weights& calls(const Provider& weights) { return weights.table<mortise_weights>(); }

/// Has it a rank, planes, and a number of elements whose float32 bytes can be counted?
bool is_possible(const mortise_tensor* tensor) {
  if (tensor == nullptr || tensor->rank == 0 || tensor->rank > MORTISE_RANK_MAX || tensor->plane_count == 0)
    return false;
  uint64_t bytes = sizeof(float);
  for (uint32_t d = 0; d < tensor->rank; ++d)
    if (!multiply(bytes, tensor->shape[d], &bytes)) return false;
  return bytes <= INT64_MAX;
}

}  // namespace

OpenModel::OpenModel(const Provider& weights, const Files& files, std::string path)
    : weights_(weights), files_(files), path_(std::move(path)) {
  view_.size = sizeof(view_);
  view_.ctx = this;
  view_.path = str(path_);
  view_.meta = [](void* ctx, mortise_str key, mortise_meta* value) {
    auto* self = static_cast<OpenModel*>(ctx);
    return calls(self->weights_).meta(self->weights_.self, self->model_, key, value);
  };
  view_.blob = [](void* ctx, mortise_str name, mortise_bytes* bytes) {
    auto* self = static_cast<OpenModel*>(ctx);
    return calls(self->weights_).blob(self->weights_.self, self->model_, name, bytes);
  };
  view_.tensor = [](void* ctx, mortise_str name) { return static_cast<OpenModel*>(ctx)->tensor(view(name)); };
  view_.meta_count = [](void* ctx) {
    auto* self = static_cast<OpenModel*>(ctx);
    return calls(self->weights_).meta_count(self->weights_.self, self->model_);
  };
  view_.meta_at = [](void* ctx, uint64_t index, mortise_str* key, mortise_meta* value) {
    auto* self = static_cast<OpenModel*>(ctx);
    return calls(self->weights_).meta_at(self->weights_.self, self->model_, index, key, value);
  };
  view_.tensor_count = [](void* ctx) -> uint64_t { return static_cast<OpenModel*>(ctx)->tensors_.size(); };
  view_.tensor_at = [](void* ctx, uint64_t index) -> const mortise_tensor* {
    const auto& tensors = static_cast<OpenModel*>(ctx)->tensors_;
    return index < tensors.size() ? tensors[index] : nullptr;
  };
}

OpenModel::~OpenModel() {
  if (model_ != nullptr) calls(weights_).close(weights_.self, model_);
}

Result<std::unique_ptr<OpenModel>> OpenModel::open(const Provider& weights, const Files& files,
                                                   const std::string& path, bool header_only) {
  std::unique_ptr<OpenModel> out(new OpenModel(weights, files, path));
  mortise_error error = c_error();
  const uint32_t flags = header_only ? MORTISE_OPEN_HEADER_ONLY : 0;
  const mortise_status status =
      calls(weights).open(weights.self, str(out->path_), flags, &out->model_, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  out->view_.dialect = calls(weights).dialect(weights.self, out->model_);
  MORTISE_CHECK(out->read_tensors());
  return out;
}

Result<void> OpenModel::read_tensors() {
  const uint64_t count = calls(weights_).tensor_count(weights_.self, model_);
  if (count > kTensorsMax)
    return fail(Code::limit, path_,
                std::to_string(count) + " tensors; the limit is " + std::to_string(kTensorsMax));
  tensors_.reserve(count);
  by_name_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const mortise_tensor* tensor = calls(weights_).tensor(weights_.self, model_, i);
    if (!is_possible(tensor))
      return fail(Code::internal, path_,
                  "plugin '" + weights_.plugin + "' describes tensor " + std::to_string(i) +
                      " wrongly; report it to its author");
    tensors_.push_back(tensor);
    by_name_.emplace(view(tensor->name), tensor);
    for (uint32_t p = 0; p < tensor->plane_count; ++p) {
      const mortise_plane& plane = *tensor->planes[p];
      const Files::Mapping* mapping = files_.find(plane.file);
      if (mapping == nullptr || plane.offset > mapping->size_bytes ||
          plane.length > mapping->size_bytes - plane.offset)
        has_data_ = false;
    }
  }
  return {};
}

const mortise_tensor* OpenModel::tensor(std::string_view name) const {
  auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

Result<std::vector<const void*>> OpenModel::planes(const mortise_tensor& tensor) const {
  std::vector<const void*> out;
  for (uint32_t p = 0; p < tensor.plane_count; ++p) {
    const mortise_plane& plane = *tensor.planes[p];
    const Files::Mapping* mapping = files_.find(plane.file);
    if (mapping == nullptr || plane.offset > mapping->size_bytes ||
        plane.length > mapping->size_bytes - plane.offset)
      return fail(Code::bad_data, path_,
                  "the data of tensor '" + std::string(view(tensor.name)) +
                      "' lies behind the end of the file; the file is truncated",
                  plane.offset);
    out.push_back(mapping->data + plane.offset);
  }
  return out;
}

void OpenModel::release(const mortise_tensor& tensor) const { release_rows(tensor, 0, 1, 1); }

void OpenModel::release_rows(const mortise_tensor& tensor, uint64_t row0, uint64_t rows, uint64_t all) const {
  for (uint32_t p = 0; p < tensor.plane_count; ++p) {
    const mortise_plane& plane = *tensor.planes[p];
    const auto bytes_before = [&](uint64_t row) {
      return static_cast<uint64_t>(static_cast<unsigned __int128>(plane.length) * row / all);
    };
    const uint64_t begin = bytes_before(row0);
    files_.release(plane.file, plane.offset + begin, bytes_before(row0 + rows) - begin);
  }
}

}  // namespace mortise
