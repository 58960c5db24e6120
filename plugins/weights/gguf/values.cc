// What a File can be asked: entries and tensors by name, and metadata as typed values.
// Thread rule: pure. Flow: after read_file, which has checked every length that is walked here.
#include <algorithm>
#include <cstring>

#include "file.h"

namespace gguf {
namespace {

constexpr std::string_view kTypeNames[kValueTypes] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                      "bool", "string", "array", "u64", "i64", "f64"};
constexpr uint32_t kWidths[kValueTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr size_t kQuotedBytesMax = 80;

/// The item whose name is `name`, by binary search in the sorted indices.
template <class Items, class NameOf>
auto find(const Items& items, const std::vector<uint32_t>& order, std::string_view name, NameOf name_of)
    -> decltype(&items[0]) {
  const auto at =
      std::lower_bound(order.begin(), order.end(), name,
                       [&](uint32_t i, std::string_view wanted) { return name_of(items[i]) < wanted; });
  return at != order.end() && name_of(items[*at]) == name ? &items[*at] : nullptr;
}

template <class T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

template <class From, class To>
void widen(const uint8_t* at, std::vector<To>& out) {
  for (To& value : out) {
    value = static_cast<To>(load<From>(at));
    at += sizeof(From);
  }
}

}  // namespace

std::string_view value_type_name(ValueType type) { return kTypeNames[static_cast<size_t>(type)]; }
uint32_t value_width(ValueType type) { return kWidths[static_cast<size_t>(type)]; }

const Entry* File::find_entry(std::string_view key) const {
  return find(entries, entries_by_key, key, [](const Entry& e) { return e.key; });
}

const Tensor* File::find_tensor(std::string_view name) const {
  return find(tensors, tensors_by_name, name, [](const Tensor& t) { return t.name; });
}

Result<Value> Value::of(const File& file, const Entry& entry) {
  Value out;
  out.is_array_ = entry.is_array;
  const size_t n = static_cast<size_t>(entry.count);
  const uint8_t* at = file.data + entry.at;
  switch (entry.type) {
    case ValueType::boolean:
    case ValueType::u8:
      out.ints_.resize(n);
      widen<uint8_t>(at, out.ints_);
      break;
    case ValueType::i8:
      out.ints_.resize(n);
      widen<int8_t>(at, out.ints_);
      break;
    case ValueType::u16:
      out.ints_.resize(n);
      widen<uint16_t>(at, out.ints_);
      break;
    case ValueType::i16:
      out.ints_.resize(n);
      widen<int16_t>(at, out.ints_);
      break;
    case ValueType::u32:
      out.ints_.resize(n);
      widen<uint32_t>(at, out.ints_);
      break;
    case ValueType::i32:
      out.ints_.resize(n);
      widen<int32_t>(at, out.ints_);
      break;
    case ValueType::u64:
    case ValueType::i64:
      out.ints_.resize(n);
      widen<int64_t>(at, out.ints_);
      break;
    case ValueType::f32:
      out.floats_.resize(n);
      widen<float>(at, out.floats_);
      break;
    case ValueType::f64:
      out.floats_.resize(n);
      widen<double>(at, out.floats_);
      break;
    case ValueType::string:
      out.strings_.resize(n);
      for (mortise_str& s : out.strings_) {
        s = {reinterpret_cast<const char*>(at + 8), static_cast<size_t>(load<uint64_t>(at))};
        at += 8 + s.size;
      }
      break;
    case ValueType::array:
      break;  // an entry's type is that of its elements, never this
  }
  if (entry.type == ValueType::u64 &&
      std::any_of(out.ints_.begin(), out.ints_.end(), [](int64_t v) { return v < 0; }))
    return mortise::fail(mortise::Code::bad_data, file.where,
                         "metadata key " + quoted(entry.key) + " holds an integer above 2^63 - 1", entry.at);
  out.type_ = entry.type == ValueType::boolean  ? MORTISE_BOOL
              : entry.type == ValueType::string ? MORTISE_STRING
              : !out.floats_.empty() || entry.type == ValueType::f32 || entry.type == ValueType::f64
                  ? MORTISE_FLOAT
                  : MORTISE_INT;
  return out;
}

mortise_meta Value::meta() const {
  mortise_meta out = {type_, is_array_ ? 1u : 0u, ints_.size(), ints_.data()};
  if (type_ == MORTISE_FLOAT) out = {type_, out.is_array, floats_.size(), floats_.data()};
  if (type_ == MORTISE_STRING) out = {type_, out.is_array, strings_.size(), strings_.data()};
  return out;
}

std::string quoted(std::string_view name) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (size_t i = 0; i < name.size() && i < kQuotedBytesMax; ++i) {
    const uint8_t byte = static_cast<uint8_t>(name[i]);
    if (byte >= 0x20 && byte < 0x7f) {
      out += name[i];
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out + (name.size() > kQuotedBytesMax ? "...\"" : "\"");
}

}  // namespace gguf
