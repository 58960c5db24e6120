// Composed tensors and the calls of mortise_weights. Thread rule and flow: see model.h.
#include "hf/model.h"

#include <algorithm>

namespace mortise::hf {

void TensorList::add(std::string name, const char* format, std::span<const uint64_t> shape,
                     std::span<const PlaneSpec> planes, std::span<const mortise_attr> params) {
  auto& plane_list = plane_lists_.emplace_back();
  for (const PlaneSpec& spec : planes) {
    const bool is_block = spec.shape[0] == 0 && spec.shape[1] == 0;
    planes_.push_back({sizeof(mortise_plane),
                       spec.raw->file,
                       spec.raw->offset,
                       spec.raw->length,
                       spec.role,
                       is_block ? "block" : spec.raw->dtype->element,
                       {spec.shape[0], spec.shape[1]}});
    plane_list.push_back(&planes_.back());
  }
  auto& param_list = param_lists_.emplace_back();
  for (const mortise_attr& param : params) param_list.push_back(&params_.emplace_back(param));
  mortise_tensor out{};
  out.size = sizeof(out);
  out.rank = static_cast<uint32_t>(shape.size());
  out.name = str(texts_.emplace_back(std::move(name)));
  out.format = format;
  std::copy(shape.begin(), shape.end(), out.shape);
  out.plane_count = static_cast<uint32_t>(plane_list.size());
  out.param_count = static_cast<uint32_t>(param_list.size());
  out.planes = plane_list.data();
  out.params = param_list.data();
  tensors_.push_back(out);
}

void TensorList::add_stored(const RawTensor& raw) {
  const char*& format = stored_formats_[raw.dtype];
  if (format == nullptr) format = keep("safetensors." + std::string(raw.dtype->element) + "/1");
  std::vector<uint64_t> shape(raw.sizes.begin(), raw.sizes.begin() + raw.rank);
  if (shape.empty()) shape.push_back(1);
  while (shape.size() > MORTISE_RANK_MAX) {
    shape[1] *= shape[0];
    shape.erase(shape.begin());
  }
  const PlaneSpec plane{"data", &raw, {}};
  add(raw.name, format, shape, std::span(&plane, 1));
}

Result<std::unique_ptr<Model>> open_model(Host host, std::string_view path, uint32_t flags, Compose compose) {
  MORTISE_TRY(folder, Folder::open(host, path, (flags & MORTISE_OPEN_HEADER_ONLY) != 0));
  auto out = std::make_unique<Model>();
  out->folder = std::move(folder);
  if (!out->folder.tensors().empty()) MORTISE_CHECK(compose(out->folder, &out->tensors));
  return out;
}

namespace {

const Model& model_of(void* model) { return *static_cast<const Model*>(model); }

}  // namespace

void Calls::close(void*, void* model) noexcept { delete static_cast<Model*>(model); }

const char* Calls::dialect(void*, void*) noexcept { return "hf"; }

mortise_status Calls::meta(void*, void* model, mortise_str key, mortise_meta* value) noexcept {
  const Metadata::Entry* entry = model_of(model).folder.metadata().find(view(key));
  if (entry == nullptr) return MORTISE_NOT_FOUND;
  *value = entry->value();
  return MORTISE_OK;
}

uint64_t Calls::meta_count(void*, void* model) noexcept { return model_of(model).folder.metadata().size(); }

mortise_status Calls::meta_at(void*, void* model, uint64_t index, mortise_str* key,
                              mortise_meta* value) noexcept {
  const Metadata& metadata = model_of(model).folder.metadata();
  if (index >= metadata.size()) return MORTISE_NOT_FOUND;
  *key = str(metadata.at(index).key);
  *value = metadata.at(index).value();
  return MORTISE_OK;
}

mortise_status Calls::blob(void*, void* model, mortise_str name, mortise_bytes* bytes) noexcept {
  const mortise_bytes found = model_of(model).folder.blob(view(name));
  if (found.data == nullptr) return MORTISE_NOT_FOUND;
  *bytes = found;
  return MORTISE_OK;
}

uint64_t Calls::tensor_count(void*, void* model) noexcept { return model_of(model).tensors.size(); }

const mortise_tensor* Calls::tensor(void*, void* model, uint64_t index) noexcept {
  return model_of(model).tensors.at(index);
}

}  // namespace mortise::hf
