// JSON as a stream of events with byte offsets: no tree is built, so memory stays that of what a handler
// keeps. Thread rule: pure functions over a handler of the caller's. Flow: headers, configs and the index are
// read so.
#pragma once
#include <mortise/cpp/result.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::hf {

/// A value that is neither object nor array.
struct Scalar {
  enum Kind { null, boolean, integer, number, text };  ///< integer: fits int64_t; number: any other
  Kind kind = null;
  bool is_negative_zero = false;  ///< "-0", which is no count
  int64_t integer_value = 0;      ///< of boolean (0, 1) and integer
  double number_value = 0;
  std::string text_value;
};

/// Receives the events in the order of the text. `at` is a byte offset close behind the token.
class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual Result<void> begin(bool is_object, uint64_t at) = 0;
  virtual Result<void> end() = 0;
  virtual Result<void> key(std::string_view name, uint64_t at) = 0;
  virtual Result<void> scalar(Scalar value, uint64_t at) = 0;
};

/// Walks one JSON text (UTF-8, nothing behind it but blanks). Errors: the handler's own, or bad_data and
/// limit with `where` and `base` + the byte's offset in `text`. Equal keys are the handler's matter.
Result<void> walk_json(std::string_view text, const std::string& where, uint64_t base, JsonHandler& handler);

/// A name out of a file for a message: in quotes, cut at 80 bytes, control and non-ASCII bytes as \xNN.
std::string in_quotes(std::string_view name);

}  // namespace mortise::hf
