// ModelService: see model_service.h.
#include "engine/model_service.h"

#include <algorithm>

namespace mortise {

struct ModelService::Calls {
  static ModelService& self(void* ctx) { return *static_cast<ModelService*>(ctx); }

  static mortise_status read_rows(void* ctx, const mortise_tensor* tensor, uint64_t row0, uint64_t rows,
                                  float* out, mortise_error* error) {
    return guard(error, [&] { return self(ctx).read_rows(*tensor, row0, rows, out); });
  }
  static void release(void* ctx, const mortise_tensor* tensor) { self(ctx).model_.release(*tensor); }
  static mortise_status writer(void* ctx, mortise_str plugin, const mortise_weights** table, void** instance,
                               mortise_error* error) {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(provider, self(ctx).writer(view(plugin)));
      *table = &provider.table<mortise_weights>();
      *instance = provider.self;
      return {};
    });
  }
  static const mortise_format* format(void* ctx, mortise_str id) {
    const Provider* provider = self(ctx).formats_.find(view(id));
    return provider == nullptr ? nullptr : &provider->table<mortise_format>();
  }
};

ModelService::ModelService(const OpenModel& model, Parts& parts, Formats formats)
    : model_(model), parts_(parts), formats_(std::move(formats)) {
  table_ = {sizeof(mortise_model_service),
            0,
            this,
            &model.c(),
            &Calls::read_rows,
            &Calls::release,
            &Calls::writer,
            &Calls::format};
}

Result<std::unique_ptr<ModelService>> ModelService::make(const OpenModel& model, Parts& parts) {
  MORTISE_TRY(formats, parts.all("format"));
  return std::unique_ptr<ModelService>(new ModelService(model, parts, Formats(std::move(formats))));
}

Result<void> ModelService::read_rows(const mortise_tensor& tensor, uint64_t row0, uint64_t rows,
                                     float* out) const {
  MORTISE_TRY(provider, formats_.of(tensor, model_.path()));
  uint64_t all = 1;
  for (uint32_t d = 0; d + 1 < tensor.rank; ++d) all *= tensor.shape[d];
  if (row0 > all || rows > all - row0)
    return fail(Code::bad_argument, std::string(view(tensor.name)),
                "has " + std::to_string(all) + " rows, not " + std::to_string(rows) + " from row " +
                    std::to_string(row0) + " on");
  MORTISE_TRY(planes, model_.planes(tensor));
  provider->table<mortise_format>().decode_rows(provider->self, &tensor, planes.data(), row0, rows, out);
  return {};
}

Result<Provider> ModelService::writer(std::string_view name) {
  const std::lock_guard lock(parts_mutex_);
  MORTISE_TRY(all, parts_.all("weights"));
  std::string names;
  for (const Provider& p : all) {
    if (p.table<mortise_weights>().write_begin == nullptr) continue;
    if (p.name == name) return p;
    names += (names.empty() ? "" : ", ") + p.name;
  }
  return fail(Code::bad_argument, "",
              "no weights plugin '" + std::string(name) + "' writes models; " +
                  (names.empty() ? "none that is installed does" : "those that do are: " + names));
}

}  // namespace mortise
