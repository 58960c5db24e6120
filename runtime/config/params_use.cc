// Tables of values against lists of declarations, and what help and front ends show of them; see params.h.
// Thread rule: pure functions. Flow: after the plugins of a pipeline are known, before create().
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "config/nearest.h"
#include "config/params.h"
#include "config/raw_json.h"

namespace mortise {
namespace {

const char* type_name(uint32_t type) {
  static constexpr const char* kNames[] = {"bool", "int",  "float", "enum",     "string", "list",
                                           "map",  "json", "bytes", "duration", "path",   "secret"};
  return kNames[type];
}

using Wanted = bool (Param::*)() const;

std::vector<std::string> names_of(const Params& params, Wanted wanted) {
  std::vector<std::string> out;
  for (const Param& param : params.list) {
    if ((param.*wanted)()) out.push_back(param.name);
  }
  return out;
}

Result<Given> check_entries(const Params& params, Wanted wanted, const std::string& table,
                            const std::vector<RawEntry>& entries, const std::filesystem::path& folder) {
  Given out;
  for (const RawEntry& entry : entries) {
    const std::string name = table + "." + key_text(entry.key);
    const Param* param = params.find(entry.key);
    if (param == nullptr || !(param->*wanted)()) {
      const bool misplaced = param != nullptr && param->in_request();
      return fail(Code::bad_argument, entry.where,
                  fmt::format("unknown key {}; {}", name,
                              misplaced ? "it is a request parameter: set it in [defaults] or in the request"
                                        : suggest_name(entry.key, names_of(params, wanted))));
    }
    MORTISE_TRY(value, check_value(*param, name, entry.value, folder));
    out.insert_or_assign(entry.key, std::move(value));
  }
  return out;
}

}  // namespace

std::string expected_text(const Param& param) {
  switch (param.type) {
    case MORTISE_BOOL:
      return "true or false";
    case MORTISE_INT:
      return "an integer";
    case MORTISE_FLOAT:
      return "a number";
    case MORTISE_ENUM: {
      std::string out = param.choices.size() == 1 ? "" : "one of ";
      for (size_t i = 0; i < param.choices.size(); ++i)
        out += (i == 0 ? "" : ", ") + quoted_text(param.choices[i]);
      return out;
    }
    case MORTISE_STRING:
      return "a string";
    case MORTISE_LIST:
      return "a list of strings or numbers";
    case MORTISE_MAP:
      return "a table of strings or numbers";
    case MORTISE_JSON:
      return "JSON";
    case MORTISE_BYTES:
      return "a string of base64";
    case MORTISE_DURATION:
      return "milliseconds or a duration such as \"2 s\"";
    case MORTISE_PATH:
      return "a path as a string";
    default:
      return "a string";
  }
}

Result<Given> check_table(const Params& params, const std::string& table,
                          const std::vector<RawEntry>& entries, const std::filesystem::path& folder) {
  return check_entries(params, &Param::in_config, table, entries, folder);
}

Result<Given> check_defaults(const Params& merged, const std::vector<RawEntry>& entries,
                             const std::filesystem::path& folder) {
  return check_entries(merged, &Param::in_request, "defaults", entries, folder);
}

Values fill_values(const Params& params, const Given& given, const std::filesystem::path& folder) {
  std::vector<Value> out;
  for (const Param& param : params.list) {
    Value value;
    value.type = param.type;
    const auto it = given.find(param.name);
    if (it != given.end() && it->second.is_set && it->second.type == param.type) {
      value = it->second;
    } else if (param.fallback) {
      value = *check_value(param, param.name, *param.fallback, folder);  // checked when it was declared
      value.where.clear();
    }
    out.push_back(std::move(value));
  }
  return Values(std::move(out));
}

nlohmann::ordered_json describe_params(const Params& params) {
  using Json = nlohmann::ordered_json;
  const auto text = [](const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); };
  Json out = Json::array();
  for (const Param& param : params.list) {
    Json row;
    row["name"] = param.name;
    row["type"] = type_name(param.type);
    const bool shown = param.fallback && !param.is_secret();
    row["default"] = shown ? to_json(*param.fallback, kMaxJsonDepth).value_or(nullptr) : Json(nullptr);
    std::string range = param.range ? param.range->text() : std::string{};
    for (const std::string& choice : param.choices) range += (range.empty() ? "" : "|") + choice;
    row["range"] = text(range);
    row["unit"] = text(param.unit);
    row["help"] = text(param.help);
    row["config"] = param.in_config();
    row["request"] = param.in_request();
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<std::string> help_lines(const Params& params) {
  size_t width = 0;
  for (const Param& param : params.list) width = std::max(width, param.name.size());
  std::vector<std::string> out;
  for (const Param& param : params.list) {
    std::string kind = expected_text(param);
    if (param.range) kind += " in " + param.range->text();
    if (!param.unit.empty()) kind += ", " + param.unit;
    if (!param.fallback_text.empty() && !param.is_secret()) kind += ", default " + param.fallback_text;
    out.push_back(fmt::format("{:<{}}  {} ({})", param.name, width, param.help, kind));
  }
  return out;
}

}  // namespace mortise
