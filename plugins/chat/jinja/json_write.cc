// Values -> JSON text exactly as Python's json.dumps prints it, with provenance.
// Thread rule: one render. Flow: the tojson filter.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

class Writer {
 public:
  Writer(Interp& interp, const JsonStyle& style) : interp_(interp), style_(style) {}

  void value(const Value& v) {
    const Level level(interp_.budget());
    interp_.budget().spend();
    interp_.budget().expect(out_.cost(), 1);
    switch (v.kind) {
      case Kind::none:
        return put("null");
      case Kind::boolean:
        return put(v.b ? "true" : "false");
      case Kind::integer:
        return put(std::to_string(v.i));
      case Kind::floating:
        return put(number(v.f));
      case Kind::string:
        return string(v.text());
      case Kind::list:
      case Kind::tuple:
        return array(v.as<Seq>().items);
      case Kind::dict:
        return object(v.as<Dict>());
      default:
        raise(std::string("Object of type ") + type_name(v) + " is not JSON serializable");
    }
  }

  Text take() { return std::move(out_); }

 private:
  void put(std::string_view s) { out_.append(s, false); }

  static std::string number(double f) {
    if (std::isnan(f)) return "NaN";
    return std::isinf(f) ? (f < 0 ? "-Infinity" : "Infinity") : float_repr(f);
  }

  void line_break() {
    if (!style_.pretty) return;
    put("\n");
    for (int i = 0; i < depth_; ++i) out_.append(style_.indent);
  }

  // One item's start: separator where it is not the first, then a new line.
  void item(bool first) {
    if (!first) out_.append(style_.item_separator);
    line_break();
  }

  void array(const std::vector<Value>& items) {
    if (items.empty()) return put("[]");
    put("[");
    ++depth_;
    for (size_t i = 0; i < items.size(); ++i) item(i == 0), value(items[i]);
    --depth_;
    line_break();
    put("]");
  }

  void object(const Dict& dict) {
    if (dict.items.empty()) return put("{}");
    std::vector<std::pair<Value, Value>> entries = dict.items;
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [this](const auto& a, const auto& b) {
        return less(a.first, b.first, &interp_.budget());
      });
    }
    put("{");
    ++depth_;
    for (size_t i = 0; i < entries.size(); ++i) {
      item(i == 0);
      key(entries[i].first);
      out_.append(style_.key_separator);
      value(entries[i].second);
    }
    --depth_;
    line_break();
    put("}");
  }

  void key(const Value& v) {
    switch (v.kind) {
      case Kind::string:
        return string(v.text());
      case Kind::none:
        return put("\"null\"");
      case Kind::boolean:
        return put(v.b ? "\"true\"" : "\"false\"");
      case Kind::integer:
        return put("\"" + std::to_string(v.i) + "\"");
      case Kind::floating:
        return put("\"" + number(v.f) + "\"");
      default:
        raise(std::string("keys must be str, int, float, bool or None, not ") + type_name(v));
    }
  }

  static void escape(std::string& piece, char32_t c, bool ascii) {
    static constexpr std::string_view kPlain = "\"\\\n\r\t\f\b";
    static constexpr std::string_view kNames = "\"\\nrtfb";
    const size_t named = c < 0x80 ? kPlain.find(static_cast<char>(c)) : std::string_view::npos;
    char buffer[16];
    if (named != std::string_view::npos) {
      piece += '\\';
      piece += kNames[named];
    } else if (c < 0x20 || (ascii && c >= 0x7f && c < 0x10000)) {
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", static_cast<unsigned>(c));
      piece += buffer;
    } else if (ascii && c >= 0x10000) {
      const unsigned rest = static_cast<unsigned>(c) - 0x10000;
      std::snprintf(buffer, sizeof(buffer), "\\u%04x\\u%04x", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
      piece += buffer;
    } else {
      put_code_point(piece, c);
    }
  }

  void string(const Text& text) {
    const std::string& s = text.bytes();
    interp_.budget().spend(s.size() / 32);
    put("\"");
    std::string piece;
    for (size_t at = 0; at < s.size();) {
      const size_t begin = at;
      piece.clear();
      escape(piece, next_code_point(s, at), style_.ensure_ascii);
      out_.append(piece, text.user_at(begin));
    }
    put("\"");
  }

  Interp& interp_;
  const JsonStyle& style_;
  Text out_;
  int depth_ = 0;
};

}  // namespace

Text to_json(Interp& interp, const Value& v, const JsonStyle& style) {
  Writer writer(interp, style);
  writer.value(v);
  return writer.take();
}

}  // namespace mortise::jinja
