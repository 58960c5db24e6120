// The weights part. Thread rule: see model.h. Flow: see model.h; the functions at the end are the C boundary.
#include "model.h"

#include <memory>

#include "write.h"

namespace gguf {

Model::Model(std::vector<Part> parts) : parts_(std::move(parts)) {
  size_t count = 0;
  for (const Part& part : parts_) count += part.file.tensors.size();
  planes_.reserve(count);
  plane_pointers_.reserve(count);
  tensors_.reserve(count);
  for (const Part& part : parts_)
    for (const Tensor& tensor : part.file.tensors) add(tensor, part.handle);
}

void Model::add(const Tensor& tensor, uint32_t file_handle) {
  planes_.push_back(
      {sizeof(mortise_plane), file_handle, tensor.offset, tensor.bytes, "data", "block", {0, 0}});
  plane_pointers_.push_back(&planes_.back());
  mortise_tensor out{};
  out.size = sizeof(out);
  out.rank = tensor.dims == 0 ? 1 : tensor.dims;  // one number is a row of one
  out.name = mortise::str(tensor.name);
  out.format = tensor.type->format;
  for (uint32_t i = 0; i < out.rank; ++i) out.shape[i] = tensor.sizes[out.rank - 1 - i];
  out.plane_count = 1;
  out.planes = &plane_pointers_.back();
  tensors_.push_back(out);
}

Result<mortise_meta> Model::value(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  auto at = values_.find(&entry);
  if (at == values_.end()) {
    MORTISE_TRY(made, Value::of(file(), entry));
    at = values_.emplace(&entry, std::move(made)).first;
  }
  return at->second.meta();
}

Result<mortise_meta> Model::meta(std::string_view key) {
  const Entry* entry = file().find_entry(key);
  if (entry == nullptr)
    return mortise::fail(mortise::Code::not_found, file().where,
                         "metadata key " + quoted(key) + " is missing");
  return value(*entry);
}

Result<mortise_meta> Model::meta_at(uint64_t index, std::string_view* key) {
  if (index >= file().entries.size())
    return mortise::fail(mortise::Code::not_found, file().where,
                         "no metadata entry " + std::to_string(index));
  const Entry& entry = file().entries[index];
  *key = entry.key;
  return value(entry);
}

const mortise_tensor* Model::tensor(uint64_t index) const {
  return index < tensors_.size() ? &tensors_[index] : nullptr;
}

/// Certain of the magic. A name that only looks right earns the task of saying what is wrong with the file.
int32_t Weights::probe(std::string_view path, std::string_view head) {
  if (head.substr(0, 4) == "GGUF") return 100;
  constexpr std::string_view kSuffix = ".gguf";
  return path.size() >= kSuffix.size() && path.substr(path.size() - kSuffix.size()) == kSuffix ? 10 : 0;
}

Result<Model*> Weights::open(mortise_str path, uint32_t flags) const {
  const auto open_part = [&](const std::string& name) -> Result<Part> {
    uint32_t handle = 0;
    mortise_bytes view = {nullptr, 0};
    mortise_error error = mortise::c_error();
    const mortise_host* host = host_.c();
    const mortise_status status = host->map_file(host->ctx, mortise::str(name), &handle, &view, &error);
    if (status != MORTISE_OK) return mortise::pass(mortise::from_c(status, error));
    MORTISE_TRY(file, read_file(view.data, view.size, name, (flags & MORTISE_OPEN_HEADER_ONLY) != 0));
    return Part{std::move(file), handle};
  };
  MORTISE_TRY(parts, open_parts(std::string(mortise::view(path)), open_part));
  return new Model(std::move(parts));
}

namespace {

Model& model_of(void* model) { return *static_cast<Model*>(model); }

int32_t probe(void*, mortise_str path, mortise_bytes head) noexcept {
  return Weights::probe(mortise::view(path), {reinterpret_cast<const char*>(head.data), head.size});
}

mortise_status open(void* self, mortise_str path, uint32_t flags, void** model,
                    mortise_error* error) noexcept {
  return mortise::guard(error, [&]() -> Result<void> {
    MORTISE_TRY(opened, static_cast<Weights*>(self)->open(path, flags));
    *model = opened;
    return {};
  });
}

void close(void*, void* model) noexcept { delete static_cast<Model*>(model); }

const char* dialect(void*, void*) noexcept { return "gguf"; }

mortise_status meta(void*, void* model, mortise_str key, mortise_meta* value) noexcept {
  return mortise::guard(nullptr, [&]() -> Result<void> {
    MORTISE_TRY(found, model_of(model).meta(mortise::view(key)));
    *value = found;
    return {};
  });
}

uint64_t meta_count(void*, void* model) noexcept { return model_of(model).entry_count(); }

mortise_status meta_at(void*, void* model, uint64_t index, mortise_str* key, mortise_meta* value) noexcept {
  return mortise::guard(nullptr, [&]() -> Result<void> {
    std::string_view name;
    MORTISE_TRY(found, model_of(model).meta_at(index, &name));
    *key = mortise::str(name);
    *value = found;
    return {};
  });
}

/// A GGUF file has no companions: tokenizer and chat template stand in its metadata.
mortise_status blob(void*, void*, mortise_str, mortise_bytes*) noexcept { return MORTISE_NOT_FOUND; }

uint64_t tensor_count(void*, void* model) noexcept { return model_of(model).tensor_count(); }

const mortise_tensor* tensor(void*, void* model, uint64_t index) noexcept {
  return model_of(model).tensor(index);
}

mortise_status write_begin(void*, mortise_str path, const mortise_write_plan* plan, void** writer,
                           mortise_error* error) noexcept {
  return mortise::guard(error, [&]() -> Result<void> {
    MORTISE_TRY(begun, FileWriter::begin(std::string(mortise::view(path)), *plan));
    *writer = begun.release();
    return {};
  });
}

mortise_status write_rows(void*, void* writer, uint64_t index, uint64_t row0, uint64_t rows, const float* x,
                          const float* importance, mortise_error* error) noexcept {
  return mortise::guard(
      error, [&] { return static_cast<FileWriter*>(writer)->rows(index, row0, rows, x, importance); });
}

mortise_status write_end(void*, void* writer, mortise_error* error) noexcept {
  const std::unique_ptr<FileWriter> own(static_cast<FileWriter*>(writer));
  return mortise::guard(error, [&] { return own->end(); });
}

void write_abort(void*, void* writer) noexcept { delete static_cast<FileWriter*>(writer); }

}  // namespace

const mortise_weights kWeightsTable = {sizeof(mortise_weights),
                                       0,
                                       probe,
                                       open,
                                       close,
                                       dialect,
                                       meta,
                                       meta_count,
                                       meta_at,
                                       blob,
                                       tensor_count,
                                       tensor,
                                       write_begin,
                                       write_rows,
                                       write_end,
                                       write_abort};

}  // namespace gguf
