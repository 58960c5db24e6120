// Raw values and JSON, both ways, with bounded depth.
// Thread rule: pure functions. Flow: a request's JSON is checked as Raw; defaults are published as JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "config/raw.h"

namespace mortise {

/// Two levels of `json`, all that a checked value can have; what lies deeper becomes an empty list or table.
/// Every part's `where` is the given one. Integers above 2^63-1 become reals.
Raw from_json(const nlohmann::ordered_json& json, const std::string& where);

/// `raw` as JSON; nothing where it nests deeper than `depth`, or holds a date, an infinity or a NaN.
std::optional<nlohmann::ordered_json> to_json(const Raw& raw, size_t depth);

/// Whether lists and objects nest at most `depth` deep.
bool json_depth_within(const nlohmann::ordered_json& json, size_t depth);

}  // namespace mortise
