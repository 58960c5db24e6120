// A GGUF file's header, checked whole: metadata entries and tensors as views into the mapping.
// Thread rule: read_file is pure; a File is constant once read, so any thread may read it. Flow: parse.cc
// makes it, values.cc turns entries into typed values, the weights part hands both to the host.
#pragma once
#include <mortise/base.h>
#include <mortise/cpp/result.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "gguf_limits.h"
#include "types.h"

namespace gguf {

using mortise::Result;

enum class ValueType : uint8_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
constexpr uint32_t kValueTypes = 13;

/// "u32"; for messages.
std::string_view value_type_name(ValueType type);
/// Bytes of a value of fixed width; 0 for strings and arrays.
uint32_t value_width(ValueType type);

/// One metadata entry. `type` is that of the elements where it is an array; `at` is the offset of the first
/// element.
struct Entry {
  std::string_view key;
  uint64_t at;
  uint64_t count;  // 1 for a scalar
  ValueType type;
  bool is_array;
};

/// One tensor. `sizes` as the file has them, the fastest running first; entries from `dims` on are 1.
struct Tensor {
  std::string_view name;
  const Type* type;
  std::array<uint64_t, kDimsMax> sizes;
  uint64_t offset;  // from the start of the file
  uint64_t bytes;   // without padding
  uint32_t dims;

  uint64_t row_weights() const { return sizes[0]; }
  uint64_t rows() const { return sizes[1] * sizes[2] * sizes[3]; }
  uint64_t row_bytes() const { return sizes[0] / type->block_weights * type->block_bytes; }
};

struct File {
  std::string where;
  const uint8_t* data = nullptr;
  uint64_t size = 0;
  uint32_t version = 0;
  uint32_t alignment = 32;
  uint64_t header_bytes = 0;  // where the tensor list ends
  uint64_t data_start = 0;
  bool header_only = false;  // the file ends before its data does
  // Deques: a vector's growth would need more memory than the file's size allows an attacker to spend.
  std::deque<Entry> entries;
  std::deque<Tensor> tensors;
  std::vector<uint32_t> entries_by_key;  // indices, sorted
  std::vector<uint32_t> tensors_by_name;

  /// Null where there is none.
  const Entry* find_entry(std::string_view key) const;
  const Tensor* find_tensor(std::string_view name) const;
};

/// Reads and checks the header of the `size` bytes at `data`, which must outlive the File. `where` is the
/// file's name for errors, which carry the offset of the field that is wrong. `accept_header_only`: a file
/// that stops anywhere behind its tensor list is taken, and header_only says so. Memory: at most 4 x header +
/// 1 MiB.
Result<File> read_file(const uint8_t* data, uint64_t size, std::string where, bool accept_header_only);

/// A metadata value in the form that crosses the plugin boundary; strings point into the mapping.
class Value {
 public:
  /// Errors: an integer above the largest int64, naming the key.
  static Result<Value> of(const File& file, const Entry& entry);
  /// Valid as long as this Value is neither moved nor destroyed.
  mortise_meta meta() const;

 private:
  std::vector<int64_t> ints_;
  std::vector<double> floats_;
  std::vector<mortise_str> strings_;
  uint32_t type_ = MORTISE_INT;
  bool is_array_ = false;
};

/// A name out of the file for a message: in quotes, cut at 80 bytes, control and non-ASCII bytes as \xNN.
std::string quoted(std::string_view name);

}  // namespace gguf
