// Planes of a tensor. Thread rule and flow: see planar.h.
#include "planar/planar.h"

#include <mortise/cpp/reader.h>

#include <algorithm>

namespace mortise::planar {
namespace {

std::string shape_text(uint64_t rows, uint64_t columns) {
  std::string text = "[";  // grown by +=: GCC 12 warns wrongly of a literal's operator+ here
  return (text += std::to_string(rows)) + ", " + std::to_string(columns) + "]";
}

const mortise_attr* find_param(const mortise_tensor& tensor, std::string_view name) {
  for (uint32_t i = 0; i < tensor.param_count; ++i)
    if (name == tensor.params[i]->name) return tensor.params[i];
  return nullptr;
}

Result<void> check_plane(const mortise_tensor& tensor, const mortise_plane& plane, const Wanted& wanted) {
  const auto bad = [&](const std::string& what) {
    return bad_tensor(tensor, "plane '" + std::string(wanted.role) + "' " + what);
  };
  const std::string_view dtype = plane.dtype;
  if (std::find(wanted.dtypes.begin(), wanted.dtypes.end(), dtype) == wanted.dtypes.end()) {
    std::string list;
    for (const std::string_view d : wanted.dtypes) list += (list.empty() ? "" : " or ") + std::string(d);
    return bad("is of type " + std::string(dtype) + " instead of " + list);
  }
  if (plane.shape[0] != wanted.rows || plane.shape[1] != wanted.columns)
    return bad("has the shape " + shape_text(plane.shape[0], plane.shape[1]) + " instead of " +
               shape_text(wanted.rows, wanted.columns));
  uint64_t bytes = 0;
  if (!multiply(wanted.rows, wanted.columns, &bytes) || !multiply(bytes, dtype_bytes(dtype), &bytes) ||
      bytes != plane.length)
    return bad("has " + std::to_string(plane.length) + " bytes, which its shape and type do not make");
  return {};
}

}  // namespace

uint64_t dtype_bytes(std::string_view dtype) {
  if (dtype == "i64") return 8;
  if (dtype == "i32" || dtype == "f32") return 4;
  if (dtype == "f16" || dtype == "bf16") return 2;
  if (dtype == "i8" || dtype == "f8_e4m3") return 1;
  return 0;
}

const mortise_plane* find_plane(const mortise_tensor& tensor, std::string_view role) {
  for (uint32_t i = 0; i < tensor.plane_count; ++i)
    if (role == tensor.planes[i]->role) return tensor.planes[i];
  return nullptr;
}

const uint8_t* plane_data(const mortise_tensor& tensor, const void* const* planes, std::string_view role) {
  for (uint32_t i = 0; i < tensor.plane_count; ++i)
    if (role == tensor.planes[i]->role) return static_cast<const uint8_t*>(planes[i]);
  return nullptr;
}

int64_t param(const mortise_tensor& tensor, std::string_view name) {
  const mortise_attr* found = find_param(tensor, name);
  return found == nullptr ? 0 : found->i;
}

Result<int64_t> checked_param(const mortise_tensor& tensor, std::string_view name, int64_t low,
                              int64_t high) {
  const mortise_attr* found = find_param(tensor, name);
  if (found == nullptr || found->type != MORTISE_INT)
    return bad_tensor(tensor, "needs the integer parameter '" + std::string(name) + "'");
  if (found->i < low || found->i > high)
    return bad_tensor(tensor, std::string(name) + " = " + std::to_string(found->i) + " is not in [" +
                                  std::to_string(low) + ", " + std::to_string(high) + "]");
  return found->i;
}

Result<void> check_matrix(const mortise_tensor& tensor, const std::vector<std::string_view>& params) {
  if (tensor.rank != 2) return bad_tensor(tensor, "is no matrix");
  for (uint32_t d = 0; d < 2; ++d)
    if (tensor.shape[d] == 0 || tensor.shape[d] > INT32_MAX)
      return bad_tensor(tensor, "has an impossible shape " + shape_text(tensor.shape[0], tensor.shape[1]));
  for (uint32_t i = 0; i < tensor.param_count; ++i)
    if (std::find(params.begin(), params.end(), tensor.params[i]->name) == params.end())
      return bad_tensor(tensor, "takes no parameter '" + std::string(tensor.params[i]->name) + "'");
  return {};
}

Result<void> check_planes(const mortise_tensor& tensor, const std::vector<Wanted>& wanted) {
  for (uint32_t i = 0; i < tensor.plane_count; ++i) {
    const mortise_plane& plane = *tensor.planes[i];
    const auto same = [&](const Wanted& w) { return w.role == plane.role; };
    const auto found = std::find_if(wanted.begin(), wanted.end(), same);
    if (found == wanted.end() || find_plane(tensor, plane.role) != &plane)
      return bad_tensor(tensor,
                        "has a plane '" + std::string(plane.role) + "' that the format does not know");
    MORTISE_CHECK(check_plane(tensor, plane, *found));
  }
  for (const Wanted& w : wanted)
    if (!w.optional && find_plane(tensor, w.role) == nullptr)
      return bad_tensor(tensor, "lacks the plane '" + std::string(w.role) + "'");
  return {};
}

tl::unexpected<Error> bad_tensor(const mortise_tensor& tensor, const std::string& what) {
  return fail(Code::bad_data, std::string(view(tensor.name)), std::string(tensor.format) + ": " + what);
}

}  // namespace mortise::planar
