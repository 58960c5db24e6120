// Formats: lookup and whole-tensor decoding of small tensors. Thread rule and flow: see formats.h.
#include "model/formats.h"

namespace mortise {

std::vector<std::string> Formats::names() const {
  std::vector<std::string> out;
  for (const Provider& p : providers_) out.push_back(p.name);
  return out;
}

const Provider* Formats::find(std::string_view id) const {
  for (const Provider& p : providers_)
    if (p.table<mortise_format>().id == id) return &p;
  return nullptr;
}

Result<const Provider*> Formats::of(const mortise_tensor& tensor, const std::string& path) const {
  const std::string name(view(tensor.name));
  if (const Provider* p = find(tensor.format)) {
    mortise_error error = c_error();
    const mortise_status status = p->table<mortise_format>().validate(p->self, &tensor, &error);
    if (status == MORTISE_OK) return p;
    Error e = from_c(status, error);
    return fail(e.code, path, "tensor '" + name + "': " + e.message, tensor.planes[0]->offset);
  }
  return fail(Code::unsupported, path,
              "tensor '" + name + "' is stored as " + tensor.format +
                  ", which no plugin decodes; install a plugin that brings this format",
              tensor.planes[0]->offset);
}

Result<std::vector<float>> Formats::values(const OpenModel& model, const mortise_tensor& tensor) const {
  MORTISE_TRY(provider, of(tensor, model.path()));
  const auto& format = provider->table<mortise_format>();
  uint64_t rows = 1;
  for (uint32_t d = 0; d + 1 < tensor.rank; ++d) rows *= tensor.shape[d];
  MORTISE_TRY(planes, model.planes(tensor));
  std::vector<float> out(rows * tensor.shape[tensor.rank - 1]);
  format.decode_rows(provider->self, &tensor, planes.data(), 0, rows, out.data());
  return out;
}

}  // namespace mortise
