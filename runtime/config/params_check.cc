// One value against its declaration; see params.h. Thread rule: pure functions. Flow: Raw -> Value, for TOML
// and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "config/base64.h"
#include "config/nearest.h"
#include "config/params.h"
#include "config/quantity.h"
#include "config/raw_json.h"
#include "config/toml_text.h"

namespace mortise {
namespace {

using Type = Raw::Type;

/// What the checks of one value share, and how they complain.
struct Check {
  const Param& param;
  const std::string& name;
  const Raw& raw;
  const std::filesystem::path& folder;

  std::string advice() const {
    std::string out = param.help.empty() ? "correct the value" : param.help;
    if (!param.fallback_text.empty() && !param.is_secret()) out += " (default " + param.fallback_text + ")";
    return out;
  }

  tl::unexpected<Error> error(const std::string& message) const {
    return fail(Code::bad_argument, raw.where, message);
  }

  std::string found(const Raw& what) const { return param.is_secret() ? "something else" : found_text(what); }

  tl::unexpected<Error> wrong_type() const {
    return error(fmt::format("{} expects {}, found {}; {}", name, expected_text(param), found(raw),
                             is_quoted_value() ? "remove the quotes" : advice()));
  }

  /// `"4096"` where 4096 was meant.
  bool is_quoted_value() const {
    if (!raw.is(Type::string) || param.type > MORTISE_FLOAT) return false;
    const Result<Raw> inner = parse_toml_value(raw.s, "");
    if (!inner) return false;
    const bool number = inner->is(Type::integer) || (inner->is(Type::real) && param.type == MORTISE_FLOAT);
    return param.type == MORTISE_BOOL ? inner->is(Type::boolean) : number;
  }

  /// What an error may show of the value.
  std::string shown(std::string text) const { return param.is_secret() ? "(not shown)" : std::move(text); }

  Result<Value> in_range(Value value, double x, const std::string& text) const {
    if (!param.range || param.range->contains(x)) return value;
    return error(fmt::format("{} = {} is not in {}; {}", name, shown(text), param.range->text(), advice()));
  }

  Result<Value> in_length(Value value, size_t length, const char* unit) const {
    if (!param.range || param.range->contains(static_cast<double>(length))) return value;
    return error(fmt::format("{} has {} {}, which is not in {}; {}", name, length, unit, param.range->text(),
                             advice()));
  }

  Value made() const {
    Value value;
    value.type = param.type;
    value.is_set = true;
    value.where = raw.where;
    return value;
  }
};

size_t characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

Result<Value> check_integer(const Check& check) {
  if (!check.raw.is(Type::integer)) return check.wrong_type();
  Value value = check.made();
  value.i = check.raw.i;
  return check.in_range(std::move(value), static_cast<double>(value.i), fmt::format("{}", value.i));
}

Result<Value> check_number(const Check& check) {
  const Raw& raw = check.raw;
  if (!raw.is(Type::integer) && !raw.is(Type::real)) return check.wrong_type();
  Value value = check.made();
  value.f = raw.is(Type::integer) ? static_cast<double>(raw.i) : raw.f;
  if (!std::isfinite(value.f)) return check.wrong_type();
  return check.in_range(std::move(value), value.f, fmt::format("{}", value.f));
}

Result<Value> check_duration(const Check& check) {
  const Raw& raw = check.raw;
  Value value = check.made();
  if (raw.is(Type::integer) && raw.i >= 0) {
    value.i = raw.i;
  } else if (const auto ms = raw.is(Type::string) ? parse_duration_ms(raw.s) : std::nullopt) {
    value.i = *ms;
  } else {
    return check.wrong_type();
  }
  return check.in_range(std::move(value), static_cast<double>(value.i), fmt::format("{} ms", value.i));
}

Result<Value> check_choice(const Check& check) {
  const Param& param = check.param;
  if (!check.raw.is(Type::string)) return check.wrong_type();
  const auto it = std::find(param.choices.begin(), param.choices.end(), check.raw.s);
  if (it == param.choices.end()) {
    return check.error(fmt::format("{} = {} is not {}; {}", check.name, check.shown(quoted_text(check.raw.s)),
                                   expected_text(param), suggest_name(check.raw.s, param.choices)));
  }
  Value value = check.made();
  value.i = it - param.choices.begin();
  value.s = *it;
  return value;
}

Result<Value> check_text(const Check& check) {
  if (!check.raw.is(Type::string)) return check.wrong_type();
  Value value = check.made();
  value.s = check.raw.s;
  const uint32_t type = check.param.type;
  if (type == MORTISE_BYTES) {
    std::optional<std::string> bytes = decode_base64(value.s);
    if (!bytes) return check.wrong_type();
    value.s = std::move(*bytes);
    return check.in_length(std::move(value), value.s.size(), "bytes");
  }
  const size_t length = characters(value.s);
  if (type == MORTISE_PATH) {
    if (value.s.find('\0') != std::string::npos) return check.wrong_type();
    const std::filesystem::path path{value.s};
    if (check.raw.from_file && path.is_relative() && !value.s.empty())
      value.s = (check.folder / path).string();
  }
  return check.in_length(std::move(value), length, "characters");
}

/// An item of a list or map: a string or a finite number, with the type that it has.
std::optional<Value> scalar(const Raw& raw) {
  Value value;
  value.is_set = true;
  value.where = raw.where;
  if (raw.is(Type::string)) {
    value.type = MORTISE_STRING;
    value.s = raw.s;
  } else if (raw.is(Type::integer)) {
    value.type = MORTISE_INT;
    value.i = raw.i;
  } else if (raw.is(Type::real) && std::isfinite(raw.f)) {
    value.type = MORTISE_FLOAT;
    value.f = raw.f;
  } else {
    return std::nullopt;
  }
  return value;
}

tl::unexpected<Error> wrong_item(const Check& check, const Raw& item, const std::string& which) {
  return fail(Code::bad_argument, item.where,
              fmt::format("{} expects {}, found {} as {}; {}", check.name, expected_text(check.param),
                          check.found(item), which, check.advice()));
}

Result<Value> check_list(const Check& check) {
  Value value = check.made();
  if (check.raw.is(Type::list)) {
    for (const Raw& item : check.raw.items) {
      std::optional<Value> checked = scalar(item);
      if (!checked) return wrong_item(check, item, fmt::format("item {}", value.items.size() + 1));
      value.items.push_back(std::move(*checked));
    }
  } else if (std::optional<Value> only = scalar(check.raw)) {
    value.items.push_back(std::move(*only));  // a lone value stands for a list of one: `stop = "x"`
  } else {
    return check.wrong_type();
  }
  return check.in_length(std::move(value), value.items.size(), "items");
}

Result<Value> check_map(const Check& check) {
  if (!check.raw.is(Type::table)) return check.wrong_type();
  Value value = check.made();
  for (const RawEntry& entry : check.raw.entries) {
    std::optional<Value> checked = scalar(entry.value);
    if (!checked) return wrong_item(check, entry.value, "the value of " + key_text(entry.key));
    value.keys.push_back(entry.key);
    value.items.push_back(std::move(*checked));
  }
  return check.in_length(std::move(value), value.items.size(), "entries");
}

/// In TOML a string is JSON text, and anything else is what it would be in JSON.
Result<Value> check_any_json(const Check& check) {
  using Json = nlohmann::ordered_json;
  std::optional<Json> json;
  if (check.raw.is(Type::string)) {
    Json parsed = Json::parse(check.raw.s, nullptr, false);
    if (!parsed.is_discarded() && json_depth_within(parsed, kMaxJsonDepth)) json = std::move(parsed);
  } else {
    json = to_json(check.raw, kMaxJsonDepth);
  }
  if (!json) return check.wrong_type();
  Value value = check.made();
  value.s = json->dump(-1, ' ', false, Json::error_handler_t::replace);
  return value;
}

}  // namespace

Result<Value> check_value(const Param& param, const std::string& name, const Raw& raw,
                          const std::filesystem::path& folder) {
  const Check check{param, name, raw, folder};
  switch (param.type) {
    case MORTISE_BOOL: {
      if (!raw.is(Type::boolean)) return check.wrong_type();
      Value value = check.made();
      value.i = raw.i;
      return value;
    }
    case MORTISE_INT:
      return check_integer(check);
    case MORTISE_FLOAT:
      return check_number(check);
    case MORTISE_ENUM:
      return check_choice(check);
    case MORTISE_LIST:
      return check_list(check);
    case MORTISE_MAP:
      return check_map(check);
    case MORTISE_JSON:
      return check_any_json(check);
    case MORTISE_DURATION:
      return check_duration(check);
    default:
      return check_text(check);
  }
}

Result<Value> check_json(const Param& param, const nlohmann::ordered_json& json) {
  if (json.is_null()) {
    Value absent;
    absent.type = param.type;
    return absent;
  }
  if (param.type == MORTISE_JSON) {
    Raw text;
    text.type = Type::string;
    text.where = param.name;
    if (json_depth_within(json, kMaxJsonDepth)) {
      text.s = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    }
    return check_value(param, param.name, text, {});
  }
  return check_value(param, param.name, from_json(json, param.name), {});
}

}  // namespace mortise
