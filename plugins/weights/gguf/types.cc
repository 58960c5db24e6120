// The table of tensor types. Thread rule: constants. Flow: see types.h.
#include "types.h"

#include <iterator>

#include "decode.h"
#include "encode.h"

namespace gguf {
namespace {

#if defined(__x86_64__)
#define FAST(name) avx2::name
#else
#define FAST(name) base::name
#endif
#define READ(number, name, weights, bytes, decoder) \
  {number, name, "gguf." #decoder "/1", weights, bytes, base::decoder, FAST(decoder), nullptr, nullptr},
#define BOTH(number, name, weights, bytes, decoder)                     \
  {number,        name,          "gguf." #decoder "/1", weights, bytes, \
   base::decoder, FAST(decoder), encode::decoder,       nullptr},
#define KNOWN(number, name, weights, bytes) \
  {number, name, nullptr, weights, bytes, nullptr, nullptr, nullptr, nullptr},
#define GONE(number, name, instead) {number, name, nullptr, 0, 0, nullptr, nullptr, nullptr, instead},
constexpr Type kTypes[] = {
#include "types.inc"
};
#undef READ
#undef BOTH
#undef KNOWN
#undef GONE
#undef FAST

constexpr bool in_order() {
  for (uint32_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].number != i) return false;
  return true;
}
static_assert(in_order(), "the table is indexed by the type's number");

}  // namespace

const Type* find_type(uint32_t number) { return number < std::size(kTypes) ? &kTypes[number] : nullptr; }

const Type* find_type(std::string_view name) {
  for (const Type& type : kTypes)
    if (type.name == name) return &type;
  return nullptr;
}

const Type* find_format(std::string_view format) {
  for (const Type& type : kTypes)
    if (type.readable() && type.format == format) return &type;
  return nullptr;
}

std::string written_formats() {
  std::string out;
  for (const Type& type : kTypes)
    if (type.encode != nullptr) out += (out.empty() ? "" : ", ") + std::string(type.format);
  return out;
}

const Type& highest_type() { return kTypes[std::size(kTypes) - 1]; }

}  // namespace gguf
