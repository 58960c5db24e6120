// The facade over nlohmann's parser, and the writer.
// Thread rule: values and pure functions. Flow: see json.h.
#include "json/json.h"

#include <mortise/cpp/utf8.h>

#include <vector>

namespace mortise::json {
namespace {

/// What the parser's callback throws to leave the parser at once; never leaves this file.
struct LimitReached {
  std::string message;
};

std::string cleaned(const char* what) {
  std::string text = what;  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
  if (const size_t end = text.find("] "); text.rfind("[json.", 0) == 0 && end != std::string::npos)
    text.erase(0, end + 2);
  return text;
}

}  // namespace

Result<Value> parse(std::string_view text) {
  using Event = Value::parse_event_t;
  std::vector<size_t> keys;  // of the objects that are open
  const auto watch = [&keys](int depth, Event event, Value&) {
    if (event == Event::object_start || event == Event::array_start) {
      if (static_cast<size_t>(depth) >= kDepthMax)
        throw LimitReached{"nests deeper than " + std::to_string(kDepthMax) + " levels; flatten it"};
      keys.push_back(0);
    } else if (event == Event::object_end || event == Event::array_end) {
      keys.pop_back();
    } else if (event == Event::key && ++keys.back() > kKeysMax) {
      throw LimitReached{"has an object of more than " + std::to_string(kKeysMax) + " keys; send fewer"};
    }
    return true;
  };
  try {
    return Value::parse(text.begin(), text.end(), watch);
  } catch (const LimitReached& reached) {
    return fail(Code::limit, "", "the JSON " + reached.message);
  } catch (const Value::parse_error& error) {
    return fail(Code::bad_data, "", "not JSON: " + cleaned(error.what()), error.byte);
  } catch (const Value::exception& error) {
    return fail(Code::bad_data, "", "not JSON: " + cleaned(error.what()));
  }
}

std::string dump(const Value& value) { return value.dump(-1, ' ', false, Value::error_handler_t::replace); }

void Writer::separate() {
  if (comma_) *out_ += ',';
  comma_ = true;
}

Writer& Writer::open(char bracket) {
  separate();
  *out_ += bracket;
  comma_ = false;
  return *this;
}

Writer& Writer::close(char bracket) {
  *out_ += bracket;
  comma_ = true;
  return *this;
}

Writer& Writer::key(std::string_view name) {
  separate();
  quote(name);
  *out_ += ':';
  comma_ = false;
  return *this;
}

Writer& Writer::raw(std::string_view text) {
  separate();
  *out_ += text;
  return *this;
}

Writer& Writer::string(std::string_view text) {
  separate();
  if (valid_utf8(text))
    quote(text);
  else
    quote(replace_invalid(text));
  return *this;
}

void Writer::quote(std::string_view text) {
  *out_ += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        *out_ += "\\\"";
        break;
      case '\\':
        *out_ += "\\\\";
        break;
      case '\n':
        *out_ += "\\n";
        break;
      case '\r':
        *out_ += "\\r";
        break;
      case '\t':
        *out_ += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          constexpr char kHex[] = "0123456789abcdef";
          *out_ += "\\u00";
          *out_ += kHex[static_cast<unsigned char>(c) >> 4];
          *out_ += kHex[static_cast<unsigned char>(c) & 15];
        } else {
          *out_ += c;
        }
    }
  }
  *out_ += '"';
}

}  // namespace mortise::json
