// One value by a format specification: [[fill]align][sign][#][0][width][,][.precision][type].
// Thread rule: one render. Flow: used by str.format and by %.
#include <cmath>
#include <cstdio>

#include "builtins.h"
#include "format_spec.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

int64_t take_number(std::string_view spec, size_t& at) {
  int64_t n = -1;
  while (at < spec.size() && spec[at] >= '0' && spec[at] <= '9') {
    n = (n < 0 ? 0 : n) * 10 + (spec[at++] - '0');
    if (n > kMaxFormatWidth)
      raise("a format's width or precision is above " + std::to_string(kMaxFormatWidth), Code::limit);
  }
  return n;
}

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

FormatSpec parse(std::string_view spec) {
  FormatSpec f;
  size_t at = 0;
  if (!spec.empty()) {
    size_t behind_fill = 0;
    next_code_point(spec, behind_fill);
    if (behind_fill < spec.size() && is_align(spec[behind_fill])) {
      f.fill = std::string(spec.substr(0, behind_fill));
      f.align = spec[behind_fill];
      at = behind_fill + 1;
    } else if (is_align(spec[0])) {
      f.align = spec[at++];
    }
  }
  const auto take = [&](std::string_view options) {
    return at < spec.size() && options.find(spec[at]) != std::string_view::npos ? spec[at++] : '\0';
  };
  f.sign = take("+- ");
  f.alternate = take("#") != 0;
  if (take("0") != 0) {
    if (f.align == 0) f.fill = "0", f.align = '=';
  }
  f.width = take_number(spec, at);
  f.grouping = take(",_");
  if (take(".") != 0) {
    f.precision = take_number(spec, at);
    if (f.precision < 0) raise("Format specifier missing precision");
  }
  f.type = at < spec.size() ? spec[at++] : '\0';
  if (at != spec.size()) raise("Invalid format specifier '" + std::string(spec) + "'");
  return f;
}

std::string grouped(const std::string& digits, char separator, size_t group) {
  size_t whole = 0;
  while (whole < digits.size() && (std::isxdigit(static_cast<unsigned char>(digits[whole])) != 0)) ++whole;
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % group == 0) out += separator;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

Text numeric(const FormatSpec& f, const std::string& sign_and_prefix, const std::string& digits) {
  return pad_text(f, Text(sign_and_prefix), Text(digits), f.align == 0 ? '>' : f.align);
}

Text format_int(const FormatSpec& f, int64_t value) {
  if (f.precision >= 0) raise("Precision not allowed in integer format specifier");
  uint64_t u = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (f.type == 'c') {
    if (value < 0 || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
      raise("%c arg not in range(0x110000)");
    std::string c;
    put_code_point(c, static_cast<char32_t>(value));
    // Whose number it was is not known, so the character does not count as the template's.
    return pad_text(f, Text(), Text(c, true), f.align == 0 ? '<' : f.align);
  }
  const unsigned base = f.type == 'x' || f.type == 'X' ? 16 : f.type == 'o' ? 8 : f.type == 'b' ? 2 : 10;
  const char* alphabet = f.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  do digits.insert(digits.begin(), alphabet[u % base]);
  while ((u /= base) != 0);
  if (f.grouping != 0) digits = grouped(digits, f.grouping, base == 10 ? 3 : 4);
  std::string prefix = value < 0 ? "-" : f.sign == '+' || f.sign == ' ' ? std::string(1, f.sign) : "";
  if (f.alternate && base != 10) prefix += std::string("0") + f.type;
  return numeric(f, prefix, digits);
}

std::string float_digits(const FormatSpec& f, double magnitude) {
  char type = f.type == 0 ? 'g' : f.type;
  if (type == '%') type = 'f', magnitude *= 100;
  if (f.type == 0 && f.precision < 0) return float_repr(magnitude);
  char pattern[16], buffer[kMaxFormatWidth + 400];
  std::snprintf(pattern, sizeof(pattern), f.alternate ? "%%#.*%c" : "%%.*%c", type);
  std::snprintf(buffer, sizeof(buffer), pattern, static_cast<int>(f.precision < 0 ? 6 : f.precision),
                magnitude);
  std::string out = buffer;
  if (f.type == 0 && out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

Text format_float(const FormatSpec& f, double value) {
  std::string digits = float_digits(f, std::fabs(value));
  if (f.grouping != 0) digits = grouped(digits, f.grouping, 3);
  if (f.type == '%') digits += "%";
  const bool negative = std::signbit(value) && !std::isnan(value);
  return numeric(f, negative ? "-" : f.sign == '+' || f.sign == ' ' ? std::string(1, f.sign) : "", digits);
}

[[noreturn]] void unknown_code(const FormatSpec& f, const Value& v) {
  raise(std::string("Unknown format code '") + f.type + "' for object of type '" + type_name(v) + "'");
}

Text format_string(const FormatSpec& f, const Value& v) {
  if (f.type != 0 && f.type != 's') unknown_code(f, v);
  if (f.sign != 0) raise("Sign not allowed in string format specifier");
  if (f.align == '=' && f.fill != "0") raise("'=' alignment not allowed in string format specifier");
  const Text& text = v.text();
  const size_t length = v.as<Str>().length;
  const size_t shown = f.precision >= 0 ? static_cast<size_t>(f.precision) : length;
  return pad_text(f, Text(), text.slice(0, byte_offset(text.bytes(), shown, length)),
                  f.align == 0 || f.align == '=' ? '<' : f.align);
}

}  // namespace

Text pad_text(const FormatSpec& f, const Text& prefix, const Text& body, char align) {
  const auto length =
      static_cast<int64_t>(count_code_points(prefix.bytes()) + count_code_points(body.bytes()));
  const int64_t pad = f.width > length ? f.width - length : 0;
  const int64_t left = align == '>' || align == '=' ? pad : align == '^' ? pad / 2 : 0;
  Text out;
  const auto fill = [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i) out.append(f.fill, false);
  };
  if (align != '=') fill(left);
  out.append(prefix);
  if (align == '=') fill(left);
  out.append(body);
  fill(pad - left);
  return out;
}

Text format_number(const FormatSpec& f, const Value& v) {
  if (v.is(Kind::floating)) return format_float(f, v.f);
  if (f.type != 0 && std::string_view("eEfFgG%").find(f.type) != std::string_view::npos) {
    return format_float(f, v.as_double());
  }
  return format_int(f, v.as_int());
}

Text format_value(Interp& interp, const Value& v, std::string_view spec) {
  if (spec.empty()) return interp.text(v);
  const FormatSpec f = parse(spec);
  if (v.is_string()) return format_string(f, v);
  if (!v.is_number())
    raise(std::string("unsupported format string passed to ") + type_name(v) + ".__format__");
  static constexpr std::string_view kIntTypes("bcdoxXneEfFgG%\0", 15);
  static constexpr std::string_view kFloatTypes("neEfFgG%\0", 9);
  if ((v.is(Kind::floating) ? kFloatTypes : kIntTypes).find(f.type) == std::string_view::npos)
    unknown_code(f, v);
  return format_number(f, v);
}

}  // namespace mortise::jinja
