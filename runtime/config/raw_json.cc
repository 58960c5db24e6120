// Raw values and JSON; see raw_json.h. Thread rule: pure functions. Flow: between requests and checks.
#include "config/raw_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace mortise {
namespace {

using Json = nlohmann::ordered_json;

Raw raw_value(const Json& json, const std::string& where, int levels) {
  Raw out;
  out.where = where;
  if (json.is_null()) {
    out.type = Raw::Type::null;
  } else if (json.is_boolean()) {
    out.type = Raw::Type::boolean;
    out.i = json.get<bool>() ? 1 : 0;
  } else if (json.is_number_unsigned() &&
             json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    out.type = Raw::Type::real;
    out.f = json.get<double>();
  } else if (json.is_number_integer()) {
    out.type = Raw::Type::integer;
    out.i = json.get<int64_t>();
  } else if (json.is_number_float()) {
    out.type = Raw::Type::real;
    out.f = json.get<double>();
  } else if (json.is_string()) {
    out.type = Raw::Type::string;
    out.s = json.get<std::string>();
  } else if (json.is_array()) {
    out.type = Raw::Type::list;
    if (levels > 0) {
      for (const Json& item : json) out.items.push_back(raw_value(item, where, levels - 1));
    }
  } else if (levels > 0) {
    for (const auto& [key, value] : json.items()) {
      out.entries.push_back({key, where, raw_value(value, where, levels - 1)});
    }
  }
  return out;
}

}  // namespace

Raw from_json(const Json& json, const std::string& where) { return raw_value(json, where, 1); }

std::optional<Json> to_json(const Raw& raw, size_t depth) {
  switch (raw.type) {
    case Raw::Type::null:
      return Json(nullptr);
    case Raw::Type::boolean:
      return Json(raw.i != 0);
    case Raw::Type::integer:
      return Json(raw.i);
    case Raw::Type::real:
      return std::isfinite(raw.f) ? std::optional<Json>(raw.f) : std::nullopt;
    case Raw::Type::string:
      return Json(raw.s);
    case Raw::Type::date:
      return std::nullopt;
    case Raw::Type::list: {
      Json out = Json::array();
      if (depth == 0) return std::nullopt;
      for (const Raw& item : raw.items) {
        std::optional<Json> json = to_json(item, depth - 1);
        if (!json) return std::nullopt;
        out.push_back(std::move(*json));
      }
      return out;
    }
    case Raw::Type::table: {
      Json out = Json::object();
      if (depth == 0) return std::nullopt;
      for (const RawEntry& entry : raw.entries) {
        std::optional<Json> json = to_json(entry.value, depth - 1);
        if (!json) return std::nullopt;
        out[entry.key] = std::move(*json);
      }
      return out;
    }
  }
  return std::nullopt;
}

bool json_depth_within(const Json& json, size_t depth) {
  if (!json.is_structured()) return true;
  if (depth == 0) return false;
  for (const Json& item : json) {
    if (!json_depth_within(item, depth - 1)) return false;
  }
  return true;
}

}  // namespace mortise
