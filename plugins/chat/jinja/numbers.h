// Numbers from and to text as Python's int(), float() and round() have them.
// Thread rule: pure functions. Flow: number filters and formatting.
#pragma once
#include <cstdint>
#include <string_view>

namespace mortise::jinja {

enum class Parsed { good, bad, overflow };

/// int(text, base): blanks around, a sign, prefixes, single underscores. Base 0 reads the prefix.
Parsed parse_int(std::string_view text, int64_t base, int64_t& out);
/// float(text).
bool parse_float(std::string_view text, double& out);
/// round(value, digits), half to even.
int64_t round_int(int64_t value, int64_t digits);
double round_float(double value, int64_t digits);

}  // namespace mortise::jinja
