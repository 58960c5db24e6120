// Tensors that a hub folder holds element by element, f32, f16 or bf16, on their way into it; and the write
// calls of mortise_weights around a plugin's writer. Thread rule: as mortise_weights says of its write calls.
// Flow: a plugin's writer makes one Stored of each such tensor of the plan and hands it rows of float32.
#pragma once
#include <memory>
#include <string_view>

#include "hf/writer.h"

namespace mortise::hf {

struct Encoding;  // of stored.cc: a format and its encoder

class Stored {
 public:
  /// Errors: a format, rank or parameter that is not written.
  static Result<Stored> of(const mortise_tensor& tensor);

  OutTensor out() const;
  /// Encodes x[rows][k] to rows [row0, row0 + rows) of tensor `index` of the folder. Errors: a finite value
  /// beyond the type's range.
  Result<void> write(const FolderWriter& folder, uint64_t index, uint64_t row0, uint64_t rows,
                     const float* x) const;

 private:
  std::string name_;
  const Encoding* encoding_ = nullptr;
  std::vector<uint64_t> shape_;
};

/// The write calls around `Writer`: `static Result<std::unique_ptr<Writer>> begin(path, plan)`, `rows(index,
/// row0, rows, x, importance)` and `end()`, both Result<void>; its destructor gives up what is not ended.
template <class Writer>
constexpr void add_write_calls(mortise_weights* table) {
  table->write_begin = [](void*, mortise_str path, const mortise_write_plan* plan, void** writer,
                          mortise_error* error) noexcept -> mortise_status {
    return guard(error, [&]() -> Result<void> {
      MORTISE_TRY(opened, Writer::begin(view(path), *plan));
      *writer = opened.release();
      return {};
    });
  };
  table->write_rows = [](void*, void* writer, uint64_t index, uint64_t row0, uint64_t rows, const float* x,
                         const float* importance, mortise_error* error) noexcept -> mortise_status {
    return guard(error, [&] { return static_cast<Writer*>(writer)->rows(index, row0, rows, x, importance); });
  };
  table->write_end = [](void*, void* writer, mortise_error* error) noexcept -> mortise_status {
    const std::unique_ptr<Writer> self(static_cast<Writer*>(writer));
    return guard(error, [&] { return self->end(); });
  };
  table->write_abort = [](void*, void* writer) noexcept { delete static_cast<Writer*>(writer); };
}

}  // namespace mortise::hf
