// Numbers from and to text as Python's int(), float() and round() have them.
// Thread rule: pure functions. Flow: number filters and formatting.
#include "numbers.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "unicode.h"

namespace mortise::jinja {
namespace {

std::string_view stripped(std::string_view text) {
  const Bounds b = strip_bounds(text, nullptr, true, true);
  return text.substr(b.begin, b.end - b.begin);
}

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

// Drops single underscores between digits; false where one stands elsewhere.
bool drop_underscores(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
    } else if (i == 0 || i + 1 == text.size() || text[i - 1] == '_' || text[i + 1] == '_') {
      return false;
    }
  }
  return true;
}

}  // namespace

Parsed parse_int(std::string_view text, int64_t base, int64_t& out) {
  text = stripped(text);
  if (base != 0 && (base < 2 || base > 36)) return Parsed::bad;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    const int64_t of_prefix = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
    if (of_prefix != 0 && (base == of_prefix || base == 0)) {
      text.remove_prefix(2);
      if (!text.empty() && text[0] == '_') text.remove_prefix(1);
      base = of_prefix;
    }
  }
  std::string digits = negative ? "-" : "";
  if (text.empty() || text[0] == '-' || !drop_underscores(text, digits)) return Parsed::bad;
  if (base == 0) {
    const bool zeros = digits.find_first_not_of("-0") == std::string::npos;
    if (text[0] == '0' && !zeros) return Parsed::bad;
    base = 10;
  }
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), out, static_cast<int>(base));
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) return Parsed::bad;
  return error == std::errc() ? Parsed::good : Parsed::overflow;
}

bool parse_float(std::string_view text, double& out) {
  std::string plain;
  if (!drop_underscores(stripped(text), plain)) return false;
  std::string lower = plain;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  const size_t sign = !lower.empty() && (lower[0] == '-' || lower[0] == '+') ? 1 : 0;
  const std::string word = lower.substr(sign);
  if (word == "inf" || word == "infinity" || word == "nan") {
    out = word == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    if (lower[0] == '-') out = -out;
    return true;
  }
  // strtod takes more than Python does (hexadecimal), so the form is checked first.
  size_t at = sign, digits = 0;
  while (at < lower.size() && is_digit_char(lower[at])) ++at, ++digits;
  if (at < lower.size() && lower[at] == '.') ++at;
  while (at < lower.size() && is_digit_char(lower[at])) ++at, ++digits;
  if (digits == 0) return false;
  if (at < lower.size() && lower[at] == 'e') {
    ++at;
    if (at < lower.size() && (lower[at] == '-' || lower[at] == '+')) ++at;
    const size_t exponent = at;
    while (at < lower.size() && is_digit_char(lower[at])) ++at;
    if (at == exponent) return false;
  }
  if (at != lower.size()) return false;
  const char* first = lower.c_str() + (lower[0] == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(first, lower.c_str() + lower.size(), out);
  (void)end;
  if (error == std::errc::result_out_of_range) out = std::strtod(first, nullptr);
  return true;
}

int64_t round_int(int64_t value, int64_t digits) {
  if (digits >= 0) return value;
  if (digits < -18) return 0;
  int64_t unit = 1;
  for (int64_t i = digits; i < 0; ++i) unit *= 10;
  int64_t rest = value % unit;
  int64_t base = value - rest;
  const int64_t twice = 2 * (rest < 0 ? -rest : rest);
  const bool odd = (base / unit) % 2 != 0;
  if (unit <= INT64_MAX / 2 && (twice > unit || (twice == unit && odd))) {
    int64_t up = 0;
    if (!__builtin_add_overflow(base, rest < 0 ? -unit : unit, &up)) base = up;
  }
  return base;
}

double round_float(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 323) return value;
  if (digits < -308) return std::copysign(0.0, value);
  if (digits < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(value / unit) * unit;
  }
  // The correctly rounded decimal, half to even on the exact value, as printf gives it.
  char buffer[700];
  std::snprintf(buffer, sizeof(buffer), "%.*f", static_cast<int>(digits), value);
  return std::strtod(buffer, nullptr);
}

}  // namespace mortise::jinja
