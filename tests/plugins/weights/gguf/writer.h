// A small GGUF writer for tests: builds a file field by field and remembers where each field lies, so that a
// test can damage one. Thread rule: one thread at a time. Flow: test code only.
#pragma once
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "file.h"

namespace gguf_test {

/// What a field means to a reader, which decides what a damaged one must lead to.
enum class Kind { version, count, length, value_type, element_type, alignment, dims, size, type, offset };

struct Field {
  Kind kind;
  uint64_t at;
  int width;
};

class Writer {
 public:
  explicit Writer(uint32_t version = 3) {
    bytes += "GGUF";
    field<uint32_t>(Kind::version, version);
  }

  Writer& counts(uint64_t tensors, uint64_t entries) {
    field<uint64_t>(Kind::count, tensors);
    field<uint64_t>(Kind::count, entries);
    return *this;
  }
  template <class T>
  Writer& put(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Writer& string(std::string_view text) {
    field<uint64_t>(Kind::length, text.size());
    bytes += text;
    return *this;
  }
  /// Key and type; the value follows by put or string.
  Writer& key(std::string_view name, gguf::ValueType type) {
    string(name);
    field<uint32_t>(Kind::value_type, static_cast<uint32_t>(type));
    return *this;
  }
  Writer& array(std::string_view name, gguf::ValueType element, uint64_t count) {
    key(name, gguf::ValueType::array);
    field<uint32_t>(Kind::element_type, static_cast<uint32_t>(element));
    field<uint64_t>(Kind::count, count);
    return *this;
  }
  Writer& alignment(uint32_t value) {
    key("general.alignment", gguf::ValueType::u32);
    field<uint32_t>(Kind::alignment, value);
    align = value;
    return *this;
  }
  /// `sizes` with the fastest running first, as in the file.
  Writer& tensor(std::string_view name, std::vector<uint64_t> sizes, uint32_t type, uint64_t offset) {
    string(name);
    field<uint32_t>(Kind::dims, static_cast<uint32_t>(sizes.size()));
    for (uint64_t size : sizes) field<uint64_t>(Kind::size, size);
    field<uint32_t>(Kind::type, type);
    field<uint64_t>(Kind::offset, offset);
    return *this;
  }
  Writer& pad() {
    bytes.resize((bytes.size() + align - 1) / align * align);
    return *this;
  }
  Writer& data(size_t count, char first = 1) {
    for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(first + static_cast<char>(i % 50));
    return *this;
  }

  std::string bytes;
  std::vector<Field> fields;
  size_t align = 32;

 private:
  template <class T>
  void field(Kind kind, T value) {
    fields.push_back({kind, bytes.size(), static_cast<int>(sizeof(T))});
    put(value);
  }
};

/// A valid file with every kind of field (alignment up to 256): 10 keys, 3 tensors (F32, F16, Q8_0), small
/// enough to try every prefix.
inline Writer small_file(uint32_t version, uint32_t alignment) {
  using gguf::ValueType;
  Writer w(version);
  w.counts(3, 10);
  w.key("general.architecture", ValueType::string).string("llama");
  w.alignment(alignment);
  w.key("a.u8", ValueType::u8).put<uint8_t>(200);
  w.key("a.i16", ValueType::i16).put<int16_t>(-2);
  w.key("a.u64", ValueType::u64).put<uint64_t>(5);
  w.key("a.f64", ValueType::f64).put<double>(0.5);
  w.key("a.flag", ValueType::boolean).put<uint8_t>(1);
  w.array("a.ints", ValueType::i32, 3).put<int32_t>(-1).put<int32_t>(2).put<int32_t>(3);
  w.array("a.tokens", ValueType::string, 2).string("x").string("yz");
  w.array("a.none", ValueType::f32, 0);
  // Sizes of which none can change by one without changing the padded length.
  const uint64_t second = 256, third = second + 512;
  w.tensor("norm", {8, 8}, 0, 0).tensor("h", {16, 16}, 1, second).tensor("w", {32, 2}, 8, third);
  w.pad().data(256).data(512, 3).data(68, 5).pad();
  return w;
}

inline gguf::Result<gguf::File> parse(std::string_view bytes, bool header_only = false) {
  return gguf::read_file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "test.gguf",
                         header_only);
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace gguf_test
