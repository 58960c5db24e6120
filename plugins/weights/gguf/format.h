// The format parts: one for each tensor type that is read.
// Thread rule: constant after create, any thread decodes. Flow: plugin.cc registers one part a row of
// types.inc; the decoder that suits the processor is chosen once, at create.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/format.h>

#include <type_traits>

#include "types.h"

namespace gguf {

class FormatBase {
 public:
  FormatBase(mortise::Host host, const Type& type);

  mortise::Result<void> validate(const mortise_tensor& tensor) const;
  void decode_rows(const mortise_tensor& tensor, const void* const* planes, uint64_t row0, uint64_t rows,
                   float* out) const;

 private:
  const Type* type_;
  Decoder decode_;
};

/// An instance of the format of ggml's type `number`.
template <uint32_t number>
class Format : public FormatBase {
 public:
  Format(mortise::Host host, const mortise::NoParams&) : FormatBase(host, *find_type(number)) {
    static_assert(std::is_standard_layout_v<Format>, "the C boundary takes a Format for its base");
  }
};

/// The C boundary; `self` is a Format<number>, whose address is its base's.
mortise_status validate_tensor(void* self, const mortise_tensor* tensor, mortise_error* error) noexcept;
void decode_tensor_rows(void* self, const mortise_tensor* tensor, const void* const* planes, uint64_t row0,
                        uint64_t rows, float* out) noexcept;

}  // namespace gguf
