// Code points as Python's str sees them: classes, case mapping, UTF-8 steps.
// Thread rule: pure functions. Flow: string methods, filters, lexer. All strings are valid UTF-8 here: the
// template and the JSON input are checked where they enter.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text.h"

namespace mortise::jinja {

/// The code point at byte `at` (which must be < size); moves `at` behind it.
char32_t next_code_point(std::string_view bytes, size_t& at);
/// The code point that ends before byte `at` (> 0); moves `at` to its start.
char32_t previous_code_point(std::string_view bytes, size_t& at);
void put_code_point(std::string& out, char32_t c);
size_t count_code_points(std::string_view bytes);
/// Byte offset of the code point with index `index` (clamped to the end).
size_t byte_offset(std::string_view bytes, size_t index, size_t code_points);

bool is_space(char32_t c);
bool is_line_break(char32_t c);
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_alnum(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
bool is_printable(char32_t c);

enum class Case { upper, lower, title, capitalize, swap, fold };
/// str.upper(), lower(), title(), capitalize(), swapcase(), casefold(), with full mappings; provenance is
/// kept per code point.
Text map_case(const Text& text, Case mode);

/// [begin, end) in bytes without leading and trailing white space, or without the code points of `chars`.
struct Bounds {
  size_t begin, end;
};
Bounds strip_bounds(std::string_view bytes, const std::string* chars, bool left, bool right);

/// str.splitlines(): a line's bytes [begin, end), and where the next one begins.
struct LineBounds {
  size_t begin, end, next;
};
std::vector<LineBounds> line_bounds(std::string_view s);

/// str.islower() and str.isupper(): some cased character, and none of the other case.
bool is_lower_text(std::string_view s);
bool is_upper_text(std::string_view s);

}  // namespace mortise::jinja
