// Nearest known name for a misspelled one: what every "unknown key" and "unknown plugin" error suggests.
// Thread rule: pure functions. Flow: used wherever the host looks a name up.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mortise {

/// Damerau-Levenshtein distance (optimal string alignment: insert, delete, replace, swap of neighbours, each
/// one step), in bytes and without regard to ASCII case. Names longer than 128 bytes count by their first
/// 128.
size_t name_distance(std::string_view a, std::string_view b);

/// The known name with the smallest distance, the first of equals; empty where `known` is empty.
std::string_view nearest_name(std::string_view name, const std::vector<std::string>& known);

/// The second half of an error message: `did you mean 'x'?` where x is near, else `the nearest is 'x' of a,
/// b, c`; `none are known` for an empty list.
std::string suggest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace mortise
