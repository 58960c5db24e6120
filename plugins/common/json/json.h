// JSON in and out: a bounded parser over nlohmann's, and a writer whose numbers round-trip.
// Thread rule: values and pure functions. Flow: requests and answers of front ends pass through here.
#pragma once
#include <mortise/cpp/result.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace mortise::json {

using Value = nlohmann::ordered_json;  // keeps the order of keys

constexpr size_t kDepthMax = 64;
constexpr size_t kKeysMax = 4096;  // of one object: finding a key is linear there

/// One JSON text, nothing behind it. Errors say line and column, `offset` is the byte. Of equal keys the last
/// counts; a number out of range of a double is an error.
Result<Value> parse(std::string_view text);

/// Compact JSON text of a value that parse gave or that is no deeper.
std::string dump(const Value& value);

/// Appends JSON to a string. Commas come by themselves; open and close must match.
class Writer {
 public:
  explicit Writer(std::string* out) : out_(out) {}
  Writer& open(char bracket);   ///< '{' or '['
  Writer& close(char bracket);  ///< '}' or ']'
  Writer& key(std::string_view name);
  /// Bytes that are no UTF-8 become U+FFFD.
  Writer& string(std::string_view text);
  Writer& null() { return raw("null"); }
  Writer& boolean(bool value) { return raw(value ? "true" : "false"); }
  /// JSON text as it stands.
  Writer& raw(std::string_view text);
  /// The fewest digits that give the same value of T again; null for what JSON cannot say (NaN, infinity).
  template <class T>
  Writer& number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) return null();
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    return raw({digits, static_cast<size_t>(end - digits)});
  }

 private:
  void separate();
  void quote(std::string_view text);

  std::string* out_;
  bool comma_ = false;  // something stands before the next item
};

}  // namespace mortise::json
