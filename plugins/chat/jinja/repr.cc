// str() and repr() of values, as Python prints them, with provenance.
// Thread rule: pure functions over one render's values. Flow: output, ~, join, formatting.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "interp.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

void put_escape(std::string& out, char32_t c) {
  char buffer[16];
  const auto code = static_cast<unsigned>(c);
  std::snprintf(buffer, sizeof(buffer), c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", code);
  out += buffer;
}

void put_string_repr(Text& out, const Text& text) {
  const std::string& bytes = text.bytes();
  const bool has_single = bytes.find('\'') != std::string::npos;
  const char quote = has_single && bytes.find('"') == std::string::npos ? '"' : '\'';
  out.append(std::string_view(&quote, 1), false);
  std::string piece;
  for (size_t at = 0; at < bytes.size();) {
    const size_t begin = at;
    const char32_t c = next_code_point(bytes, at);
    piece.clear();
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      piece += '\\';
      piece += static_cast<char>(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      piece += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (!is_printable(c)) {
      put_escape(piece, c);
    } else {
      piece.append(bytes, begin, at - begin);
    }
    out.append(piece, text.user_at(begin));
  }
  out.append(std::string_view(&quote, 1), false);
}

class Printer {
 public:
  Printer(Text& out, Budget* budget) : out_(out), budget_(budget) {}

  void repr(const Value& v) {
    if (budget_ != nullptr) {
      const Level level(*budget_);
      budget_->spend();
      if (out_.size() > kMaxHeapBytes) budget_->allocate(out_.size());
      any(v);
    } else {
      any(v);
    }
  }

 private:
  void put(std::string_view s) { out_.append(s, false); }

  void items(const std::vector<Value>& values) {
    const char* separator = "";
    for (const Value& v : values) {
      put(separator), repr(v);
      separator = ", ";
    }
  }

  void dict(const Dict& d) {
    put("{");
    const char* separator = "";
    for (const auto& [key, value] : d.items) {
      put(separator), repr(key), put(": "), repr(value);
      separator = ", ";
    }
    put("}");
  }

  void view(const View& v) {
    put(v.which == View::keys ? "dict_keys([" : v.which == View::values ? "dict_values([" : "dict_items([");
    const char* separator = "";
    for (const auto& [key, value] : v.dict->items) {
      put(separator);
      separator = ", ";
      if (v.which == View::items) put("(");
      if (v.which != View::values) repr(key);
      if (v.which == View::items) put(", ");
      if (v.which != View::keys) repr(value);
      if (v.which == View::items) put(")");
    }
    put("])");
  }

  void range(const Range& r) {
    put("range(" + std::to_string(r.start) + ", " + std::to_string(r.stop));
    put(r.step == 1 ? ")" : ", " + std::to_string(r.step) + ")");
  }

  void macro(const Stmt& definition) {
    if (definition.kind != Stmt::macro) return put("<Macro anonymous>");
    put("<Macro "), put_string_repr(out_, Text(definition.text)), put(">");
  }

  void any(const Value& v) {
    switch (v.kind) {
      case Kind::missing:
      case Kind::undefined:
        return put("Undefined");
      case Kind::none:
        return put("None");
      case Kind::boolean:
        return put(v.b ? "True" : "False");
      case Kind::integer:
        return put(std::to_string(v.i));
      case Kind::floating:
        return put(float_repr(v.f));
      case Kind::string:
        if (v.as<Str>().markup) put("Markup(");
        put_string_repr(out_, v.text());
        return put(v.as<Str>().markup ? ")" : "");
      case Kind::list:
        return put("["), items(v.as<Seq>().items), put("]");
      case Kind::tuple:
        return put("("), items(v.as<Seq>().items), put(v.as<Seq>().items.size() == 1 ? ",)" : ")");
      case Kind::dict:
        return dict(v.as<Dict>());
      case Kind::range:
        return range(v.as<Range>());
      case Kind::view:
        return view(v.as<View>());
      case Kind::ns:
        return put("<Namespace "), dict(v.as<Namespace>().attributes), put(">");
      case Kind::macro:
        return macro(*v.as<Macro>().definition);
      default:
        return put(std::string("<") + type_name(v) + ">");
    }
  }

  Text& out_;
  Budget* budget_;
};

}  // namespace

std::string float_repr(double f) {
  if (std::isnan(f)) return "nan";
  if (std::isinf(f)) return f < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto [end, ok] = std::to_chars(buffer, buffer + sizeof(buffer), f, std::chars_format::scientific);
  (void)ok;
  std::string digits(buffer, end);  // d[.ddd]e[+-]dd
  const size_t e = digits.find('e');
  const int exponent = std::atoi(digits.c_str() + e + 1);
  std::string mantissa = digits.substr(0, e);
  // Python prints an exponent below 1e-4 and from 1e16 on.
  if (exponent < -4 || exponent >= 16) {
    std::snprintf(buffer, sizeof(buffer), "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    return mantissa + buffer;
  }
  const std::string sign = f < 0 || std::signbit(f) ? "-" : "";
  mantissa.erase(0, sign.size());
  if (mantissa.size() > 1) mantissa.erase(1, 1);
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + mantissa;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (mantissa.size() <= whole) return sign + mantissa + std::string(whole - mantissa.size(), '0') + ".0";
  return sign + mantissa.substr(0, whole) + "." + mantissa.substr(whole);
}

Text to_repr(const Value& v, Budget* budget) {
  Text out;
  Printer(out, budget).repr(v);
  return out;
}

Text to_text(const Value& v, Budget* budget) {
  if (v.is_string()) return v.text();
  if (v.is(Kind::undefined) || v.is_missing()) return Text();
  return to_repr(v, budget);
}

}  // namespace mortise::jinja
