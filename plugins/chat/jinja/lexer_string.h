// Literals of the template language: string escapes and the forms of integers.
// Thread rule: pure functions. Flow: called by the lexer.
#pragma once
#include <string>
#include <string_view>

namespace mortise::jinja {

/// Resolves the escapes of Python's string literals; raises TemplateError at `line`.
std::string unescape(std::string_view body, int line);

struct IntegerLiteral {
  size_t end;  // byte behind the literal
  int base;
  size_t prefix;  // bytes of "0x" and the like
};
/// The integer that starts with a digit at `at`.
IntegerLiteral integer_literal(std::string_view s, size_t at);

}  // namespace mortise::jinja
