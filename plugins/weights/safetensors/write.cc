// The write calls. Thread rule and flow: see write.h.
#include "write.h"

#include <mortise/cpp/half.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "hf/json_events.h"
#include "hf/writer.h"

namespace mortise::safetensors {
namespace {

constexpr uint64_t kPieceElements = 1 << 16;  // encoded at once

/// Encodes `count` values to `out`; false where a finite one is beyond the type's range.
using Encoder = bool(const float* x, uint64_t count, char* out);

bool encode_f32(const float* x, uint64_t count, char* out) {
  std::memcpy(out, x, count * sizeof(float));
  return true;
}

template <uint16_t (*convert)(float), uint16_t infinity>
bool encode_16(const float* x, uint64_t count, char* out) {
  bool fits = true;
  for (uint64_t i = 0; i < count; ++i) {
    const uint16_t bits = convert(x[i]);
    fits = fits && ((bits & 0x7fff) != infinity || std::isinf(x[i]));
    std::memcpy(out + 2 * i, &bits, sizeof(bits));
  }
  return fits;
}

struct Encoding {
  const char* format;
  const char* dtype;
  Encoder* encode;
};
constexpr Encoding kEncodings[] = {{"safetensors.f32/1", "F32", encode_f32},
                                   {"safetensors.f16/1", "F16", encode_16<float_to_half, 0x7c00>},
                                   {"safetensors.bf16/1", "BF16", encode_16<float_to_bf16, 0x7f80>}};

struct Target {
  std::string name;
  const Encoding* encoding;
  uint64_t columns;
};

struct Writer {
  std::unique_ptr<hf::FolderWriter> folder;
  std::vector<Target> targets;

  Result<void> rows(uint64_t index, uint64_t row0, uint64_t rows, const float* x) const {
    const Target& target = targets[index];
    const uint64_t width = hf::find_dtype(target.encoding->dtype)->bits / 8, count = rows * target.columns;
    std::vector<char> bytes(std::min(count, kPieceElements) * width);
    for (uint64_t done = 0; done < count; done += kPieceElements) {
      const uint64_t piece = std::min(count - done, kPieceElements);
      if (!target.encoding->encode(x + done, piece, bytes.data()))
        return fail(
            Code::bad_data, hf::in_quotes(target.name),
            std::string("holds a value beyond the range of ") + target.encoding->dtype + "; write bf16");
      MORTISE_CHECK(
          folder->write(index, (row0 * target.columns + done) * width, {bytes.data(), piece * width}));
    }
    return {};
  }
};

Result<std::unique_ptr<Writer>> open_writer(std::string_view path, const mortise_write_plan& plan) {
  auto out = std::make_unique<Writer>();
  std::vector<hf::OutTensor> tensors;
  for (uint64_t i = 0; i < plan.tensor_count; ++i) {
    const mortise_tensor& tensor = *plan.tensors[i];
    const std::string name(view(tensor.name)), format = tensor.format;
    const auto found = std::find_if(std::begin(kEncodings), std::end(kEncodings),
                                    [&](const Encoding& row) { return format == row.format; });
    if (found == std::end(kEncodings))
      return fail(Code::unsupported, hf::in_quotes(name),
                  format + " is not written; safetensors.f32/1, .f16/1 and .bf16/1 are");
    if (tensor.rank == 0 || tensor.rank > MORTISE_RANK_MAX || tensor.param_count != 0)
      return fail(Code::bad_argument, hf::in_quotes(name), "has one to four dimensions and no parameters");
    out->targets.push_back({name, found, tensor.shape[tensor.rank - 1]});
    tensors.push_back({name, hf::find_dtype(found->dtype), {tensor.shape, tensor.shape + tensor.rank}});
  }
  MORTISE_TRY(folder, hf::FolderWriter::begin(path, plan, std::move(tensors)));
  out->folder = std::move(folder);
  return out;
}

}  // namespace

mortise_status WriteCalls::begin(void*, mortise_str path, const mortise_write_plan* plan, void** writer,
                                 mortise_error* error) noexcept {
  return guard(error, [&]() -> Result<void> {
    MORTISE_TRY(opened, open_writer(view(path), *plan));
    *writer = opened.release();
    return {};
  });
}

mortise_status WriteCalls::rows(void*, void* writer, uint64_t index, uint64_t row0, uint64_t rows,
                                const float* x, const float*, mortise_error* error) noexcept {
  return guard(error, [&] { return static_cast<const Writer*>(writer)->rows(index, row0, rows, x); });
}

mortise_status WriteCalls::end(void*, void* writer, mortise_error* error) noexcept {
  const std::unique_ptr<Writer> self(static_cast<Writer*>(writer));
  return guard(error, [&] { return self->folder->end(); });
}

void WriteCalls::give_up(void*, void* writer) noexcept { delete static_cast<Writer*>(writer); }

}  // namespace mortise::safetensors
