// Reads a GGUF header's tensor list and checks that the data fills the file. Thread rule: pure. Flow: see
// parser.h.
#include "parser.h"

namespace gguf {

Result<void> Parser::tensors() {
  uint64_t end = 0;  // of the data so far, from the data's start
  for (uint64_t i = 0; i < tensor_count_; ++i) {
    Tensor tensor{};
    MORTISE_TRY(tensor_name, name("the name of tensor " + text(i), kTensorNameBytesMax));
    tensor.name = tensor_name;
    MORTISE_CHECK(shape(tensor));
    MORTISE_CHECK(type(tensor));
    MORTISE_CHECK(place(tensor, &end));
    file_.tensors.push_back(tensor);
  }
  MORTISE_TRY(order, sorted(
                         file_.tensors, [](const Tensor& t) { return t.name; },
                         [&](std::string_view name) {
                           return reader_.bad_at(offset_of(name) - 8,
                                                 "tensor " + quoted(name) + " occurs twice" + kDamaged);
                         }));
  file_.tensors_by_name = std::move(order);

  file_.header_bytes = reader_.offset();
  const uint64_t mask = file_.alignment - 1;
  file_.data_start = (file_.header_bytes + mask) & ~mask;
  if (end > kLargest - file_.data_start)
    return reader_.bad("the tensors take more bytes than a file can have" + std::string(kDamaged));
  for (Tensor& tensor : file_.tensors) tensor.offset += file_.data_start;
  return {};
}

Result<void> Parser::shape(Tensor& tensor) {
  const uint64_t at = reader_.offset();
  const std::string what = "tensor " + quoted(tensor.name);
  MORTISE_TRY(dims, reader_.read<uint32_t>("the number of sizes of " + what));
  if (dims > kDimsMax)
    return reader_.bad_at(at, what + " has " + text(dims) + " sizes; at most 4 are allowed");
  tensor.dims = dims;
  tensor.sizes.fill(1);
  uint64_t product = 1;
  for (uint32_t i = 0; i < dims; ++i) {
    const uint64_t size_at = reader_.offset();
    MORTISE_TRY(size, reader_.read<uint64_t>("a size of " + what));
    if (size == 0 || size > kLargest)
      return reader_.bad_at(size_at,
                            what + ": size " + text(size) + " must be from 1 to 2^63 - 1" + kDamaged);
    if (!mortise::multiply(product, size, &product) || product > kLargest)
      return reader_.bad_at(size_at, what + ": the product of its sizes overflows" + kDamaged);
    tensor.sizes[i] = size;
  }
  return {};
}

Result<void> Parser::type(Tensor& tensor) {
  const uint64_t at = reader_.offset();
  const std::string what = "tensor " + quoted(tensor.name);
  MORTISE_TRY(number, reader_.read<uint32_t>("the type of " + what));
  const auto refused = [&](const std::string& why) {
    return fail(Code::unsupported, file_.where, what + " has the type " + why, at);
  };
  tensor.type = find_type(number);
  if (tensor.type == nullptr)
    return refused("number " + text(number) + "; the highest known is " + text(highest_type().number) + " (" +
                   std::string(highest_type().name) + "): the file is damaged or made for a later version");
  const std::string type_name(tensor.type->name);
  if (tensor.type->instead != nullptr)
    return refused(type_name + ", which ggml has withdrawn; quantize the model again, as " +
                   tensor.type->instead);
  if (!tensor.type->readable())
    return refused(type_name +
                   ", which is not read: no model's weights are stored in it; convert the model again");
  if (tensor.row_weights() % tensor.type->block_weights != 0)
    return reader_.bad_at(at, what + ": its row of " + text(tensor.row_weights()) +
                                  " is no whole number of blocks of " + text(tensor.type->block_weights) +
                                  ", as " + type_name + " needs" + kDamaged);
  return {};
}

/// Offset and length. `*end` is where the tensors before it end, padded; it moves behind this one.
Result<void> Parser::place(Tensor& tensor, uint64_t* end) {
  const uint64_t at = reader_.offset();
  const std::string what = "tensor " + quoted(tensor.name);
  MORTISE_TRY(offset, reader_.read<uint64_t>("the offset of " + what));
  const std::string begins = what + " begins at offset " + text(offset);
  if (offset % file_.alignment != 0)
    return reader_.bad_at(at, begins + ", no multiple of the alignment " + text(file_.alignment) + kDamaged);
  if (offset != *end)
    return reader_.bad_at(at, begins + ", but the tensors before it end at " + text(*end) +
                                  (offset < *end ? ": they overlap" : ": there is a gap") + kDamaged);
  const uint64_t weights = tensor.sizes[0] * tensor.sizes[1] * tensor.sizes[2] * tensor.sizes[3];
  uint64_t padded = 0;
  if (!mortise::multiply(weights / tensor.type->block_weights, tensor.type->block_bytes, &tensor.bytes) ||
      !mortise::add(tensor.bytes, file_.alignment - 1, &padded) || padded > kLargest - *end)
    return reader_.bad_at(at, what + " takes more bytes than a file can have" + kDamaged);
  tensor.offset = offset;
  *end += padded & ~uint64_t{file_.alignment - 1};
  return {};
}

/// The file must end where the last tensor does, padding included.
Result<void> Parser::extent(bool accept_header_only) {
  uint64_t end = file_.data_start;
  if (!file_.tensors.empty()) {
    const Tensor& last = file_.tensors.back();
    const uint64_t mask = file_.alignment - 1;
    end += (last.offset - file_.data_start + last.bytes + mask) & ~mask;
  }
  if (file_.size > end)
    return reader_.bad_at(
        end, "the file has " + text(file_.size - end) + " bytes behind its last tensor" + kDamaged);
  if (file_.size == end || file_.tensors.empty()) return {};
  if (!accept_header_only) return truncated(end);
  file_.header_only = true;
  return {};
}

Result<void> Parser::truncated(uint64_t end) const {
  for (const Tensor& tensor : file_.tensors)
    if (tensor.offset + tensor.bytes > file_.size)
      return reader_.bad_at(tensor.offset, "tensor " + quoted(tensor.name) + " needs the bytes up to " +
                                               text(tensor.offset + tensor.bytes) +
                                               ", but the file ends at " + text(file_.size) +
                                               "; it is truncated: download it again");
  return reader_.bad_at(file_.size, "the file ends within the padding of its last tensor, " + text(end) +
                                        " bytes were due; it is truncated: download it again");
}

}  // namespace gguf
