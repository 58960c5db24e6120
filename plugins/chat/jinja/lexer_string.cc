// Literals of the template language: string escapes and the forms of integers.
// Thread rule: pure functions. Flow: called by the lexer.
#include "lexer_string.h"

#include <cstdio>

#include "template_error.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// \xHH, \uHHHH, \UHHHHHHHH
void hex_escape(std::string_view body, size_t& at, size_t digits, std::string& out, int line) {
  char32_t c = 0;
  for (size_t i = 0; i < digits; ++i) {
    const int v = at < body.size() ? hex_value(body[at]) : -1;
    if (v < 0) raise_at(line, "a string escape lacks hexadecimal digits");
    c = (c << 4) | static_cast<char32_t>(v);
    ++at;
  }
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) raise_at(line, "a string escape is no Unicode character");
  put_code_point(out, c);
}

void octal_escape(std::string_view body, size_t& at, std::string& out) {
  char32_t c = 0;
  for (int i = 0; i < 3 && at < body.size() && body[at] >= '0' && body[at] <= '7'; ++i) {
    c = (c << 3) | static_cast<char32_t>(body[at++] - '0');
  }
  put_code_point(out, c);
}

}  // namespace

std::string unescape(std::string_view body, int line) {
  std::string out;
  for (size_t at = 0; at < body.size();) {
    if (body[at] != '\\') {
      out += body[at++];
      continue;
    }
    ++at;
    const char c = at < body.size() ? body[at] : '\\';
    static constexpr std::string_view kNames = "ntrabfv\\'\"";
    static constexpr std::string_view kValues = "\n\t\r\a\b\f\v\\'\"";
    if (const size_t i = kNames.find(c); i != std::string_view::npos) {
      out += kValues[i], ++at;
    } else if (c == '\n') {
      ++at;
    } else if (c >= '0' && c <= '7') {
      octal_escape(body, at, out);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      hex_escape(body, ++at, c == 'x' ? 2 : c == 'u' ? 4 : 8, out, line);
    } else if (c == 'N') {
      raise_at(line, "named characters (\\N) are not supported; write the character itself");
    } else if (static_cast<uint8_t>(c) < 0x80) {
      out += '\\', out += c, ++at;
    } else {
      // The reference turns the character into an escape first, whose backslash this one then quotes.
      char buffer[16];
      const auto p = static_cast<unsigned>(next_code_point(body, at));
      std::snprintf(buffer, sizeof(buffer), p < 0x100 ? "\\x%02x" : p < 0x10000 ? "\\u%04x" : "\\U%08x", p);
      out += buffer;
    }
  }
  return out;
}

IntegerLiteral integer_literal(std::string_view s, size_t at) {
  const auto run = [s](size_t from, int base) {
    size_t end = from;
    while (end < s.size()) {
      const size_t digit = s[end] == '_' && end + 1 < s.size() ? end + 1 : end;
      const int v = hex_value(s[digit]);
      if (v < 0 || v >= base) break;
      end = digit + 1;
    }
    return end;
  };
  if (s[at] != '0') return {run(at, 10), 10, 0};
  if (at + 1 < s.size()) {
    const char kind = static_cast<char>(s[at + 1] | 0x20);
    const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
    if (base != 0 && run(at + 2, base) != at + 2) return {run(at + 2, base), base, 2};
  }
  return {run(at, 1), 10, 0};  // zeros only
}

}  // namespace mortise::jinja
