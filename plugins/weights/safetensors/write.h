// Writing of hub folders in float32, float16 and bfloat16.
// Thread rule: as mortise_weights says of its write calls. Flow: plugin.cc puts the calls into the table;
// tools hand rows of float32.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/weights.h>

namespace mortise::safetensors {

struct WriteCalls {
  static mortise_status begin(void*, mortise_str path, const mortise_write_plan* plan, void** writer,
                              mortise_error* error) noexcept;
  static mortise_status rows(void*, void* writer, uint64_t index, uint64_t row0, uint64_t rows,
                             const float* x, const float* importance, mortise_error* error) noexcept;
  static mortise_status end(void*, void* writer, mortise_error* error) noexcept;
  static void give_up(void*, void* writer) noexcept;
};

}  // namespace mortise::safetensors
