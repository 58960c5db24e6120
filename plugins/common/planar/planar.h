// Formats of several planes: finding and checking the planes and parameters of a tensor.
// Thread rule: pure functions. Flow: a format's validate calls check_planes before any byte of the data is
// read; its decoder then trusts shapes and lengths.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/format.h>
#include <mortise/plugin.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::planar {

/// What a plane must look like. A vector of n elements has the shape [n, 1].
struct Wanted {
  std::string_view role;
  std::vector<std::string_view> dtypes;  // any of these
  uint64_t rows, columns;
  bool optional = false;
};

/// Bytes of an element of a plane's dtype ("i32", "f16", ..); 0 where there is no such type.
uint64_t dtype_bytes(std::string_view dtype);

/// ceil(a / b), b > 0.
constexpr uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Null where the tensor has no plane of the role.
const mortise_plane* find_plane(const mortise_tensor& tensor, std::string_view role);

/// The memory of a plane, out of `planes` as decode_rows gets them; null where there is none.
const uint8_t* plane_data(const mortise_tensor& tensor, const void* const* planes, std::string_view role);

/// An integer parameter of the tensor's format; for decoders, which run behind a check.
int64_t param(const mortise_tensor& tensor, std::string_view name);

/// The same in [low, high]. Errors: absent, of another type, out of range.
Result<int64_t> checked_param(const mortise_tensor& tensor, std::string_view name, int64_t low, int64_t high);

/// The tensor is a matrix with both sizes in [1, 2^31), and has just the parameters named.
Result<void> check_matrix(const mortise_tensor& tensor, const std::vector<std::string_view>& params);

/// The tensor has the planes wanted and no others: dtype, shape, and a length that follows from both.
Result<void> check_planes(const mortise_tensor& tensor, const std::vector<Wanted>& wanted);

/// An error of a tensor: its name is `where`, its format begins the message.
tl::unexpected<Error> bad_tensor(const mortise_tensor& tensor, const std::string& what);

/// The part of a format without settings or state; `name` is the id without its revision.
constexpr mortise_part format_part(const char* name, const char* help, const mortise_format* table) {
  return {sizeof(mortise_part), 0, "format", name, MORTISE_FORMAT_ID, help, nullptr, table, nullptr, nullptr};
}

}  // namespace mortise::planar
