// Declarations of parameters, read from a plugin and checked; see params.h. Thread rule: pure functions.
// Flow: the loader calls this for every part before its parameters are used.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "config/nearest.h"
#include "config/params.h"
#include "config/toml_text.h"

namespace mortise {
namespace {

using Text = std::string_view;

Text trimmed(Text text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// An empty bound is none.
bool parse_bound(Text text, std::optional<double>& out) {
  text = trimmed(text);
  if (text.empty()) return true;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return false;
  out = value;
  return true;
}

bool is_name(Text name) {
  const auto legal = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= kMaxParamName && std::all_of(name.begin(), name.end(), legal);
}

/// A field of a declaration; null becomes empty. False: too long, not UTF-8 or not one line.
bool read_text(const char* field, std::string& out) {
  if (field == nullptr) return true;
  const size_t size = strnlen(field, kMaxParamText + 1);
  out.assign(field, size);
  return size <= kMaxParamText && is_utf8(out) && out.find('\n') == std::string::npos;
}

std::vector<std::string> split_choices(Text text) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find('|', from), text.size());
    out.emplace_back(trimmed(text.substr(from, to - from)));
    from = to + 1;
  }
  return out;
}

Result<void> read_range(Param& param, const std::string& text, const std::string& owner) {
  const auto bad = [&](const std::string& what) {
    return fail(Code::bad_data, owner,
                fmt::format("parameter '{}': {}; correct the plugin", param.name, what));
  };
  if (param.type == MORTISE_ENUM) {
    param.choices = split_choices(text);
    if (std::find(param.choices.begin(), param.choices.end(), "") != param.choices.end()) {
      return bad("an enum's range must list its choices as a|b|c, not " + quoted_text(text));
    }
    return {};
  }
  if (text.empty()) return {};
  if (param.type == MORTISE_BOOL || param.type == MORTISE_JSON) return bad("this type takes no range");
  Result<Range> range = parse_range(text);
  if (!range) return bad(range.error().message);
  param.range = *range;
  return {};
}

Result<Param> read_param(const mortise_param* declared, const std::string& owner) {
  const auto bad = [&owner](Text name, const std::string& what) {
    return fail(Code::bad_data, owner, fmt::format("parameter '{}': {}; correct the plugin", name, what));
  };
  if (!MORTISE_HAS(declared, mortise_param, help)) return bad("?", "the declaration is null or too short");
  Param param;
  if (!read_text(declared->name, param.name) || !is_name(param.name)) {
    return bad("?", "a name must be 1 to 63 of a-z, 0-9 and _, not " + quoted_text(param.name));
  }
  param.type = declared->type;
  param.flags = declared->flags;
  if (param.type > MORTISE_SECRET) return bad(param.name, fmt::format("unknown type {}", param.type));
  if (!param.in_config() && !param.in_request()) {
    return bad(param.name, "it must be of the configuration, of requests, or both");
  }
  // A request comes from anyone who reaches a front end; a path would let it name the host's files.
  if (param.type == MORTISE_PATH && param.in_request())
    return bad(param.name, "a request must not name paths");
  std::string range;
  const bool texts = read_text(declared->range, range) &&
                     read_text(declared->fallback, param.fallback_text) &&
                     read_text(declared->unit, param.unit) && read_text(declared->help, param.help);
  if (!texts) return bad(param.name, "a text is longer than 1024 bytes, not UTF-8 or not one line");
  MORTISE_CHECK(read_range(param, range, owner));
  if (declared->fallback == nullptr) return param;
  Result<Raw> fallback = parse_toml_value(param.fallback_text, "default");
  if (!fallback) return bad(param.name, "the default is no TOML value: " + fallback.error().message);
  // Defaults of paths are relative to the pipeline file, like values in it.
  const Result<Value> checked = check_value(param, "the default", *fallback, {});
  if (!checked) return bad(param.name, checked.error().message);
  param.fallback = std::move(*fallback);
  return param;
}

bool same_kind(const Param& a, const Param& b) {
  const auto range = [](const Param& p) { return p.range ? p.range->text() : std::string{}; };
  return a.type == b.type && range(a) == range(b) && a.choices == b.choices;
}

std::string kind_text(const Param& param) {
  std::string out = expected_text(param);
  if (param.range) out += " in " + param.range->text();
  return out;
}

}  // namespace

bool Range::contains(double x) const {
  const bool above = !low || (includes_low ? x >= *low : x > *low);
  const bool below = !high || (includes_high ? x <= *high : x < *high);
  return above && below;
}

std::string Range::text() const {
  return fmt::format("{}{}, {}{}", low && includes_low ? '[' : '(', low ? fmt::format("{}", *low) : "-inf",
                     high ? fmt::format("{}", *high) : "inf", high && includes_high ? ']' : ')');
}

Result<Range> parse_range(Text text) {
  const auto bad =
      fail(Code::bad_data, "", "a range is written [0,1], (0,1] or [0,), not " + quoted_text(text));
  text = trimmed(text);
  const size_t comma = text.find(',');
  if (text.size() < 3 || comma == Text::npos) return bad;
  const char open = text.front(), close = text.back();
  if ((open != '[' && open != '(') || (close != ']' && close != ')')) return bad;
  Range range;
  range.includes_low = open == '[';
  range.includes_high = close == ']';
  const Text low = text.substr(1, comma - 1), high = text.substr(comma + 1, text.size() - comma - 2);
  if (!parse_bound(low, range.low) || !parse_bound(high, range.high)) return bad;
  if (range.low && range.high && !(*range.low <= *range.high)) return bad;
  return range;
}

const Param* Params::find(Text name) const {
  const auto it = std::find_if(list.begin(), list.end(), [name](const Param& p) { return p.name == name; });
  return it == list.end() ? nullptr : &*it;
}

Result<Params> read_params(const std::string& owner, const mortise_param* const* params, size_t count) {
  if (count > kMaxParams || (count > 0 && params == nullptr)) {
    return fail(Code::bad_data, owner,
                fmt::format("declares more than {} parameters, or none at all where it "
                            "says {}; correct the plugin",
                            kMaxParams, count));
  }
  Params out{owner, {}};
  for (size_t i = 0; i < count; ++i) {
    MORTISE_TRY(param, read_param(params[i], owner));
    if (out.find(param.name) != nullptr) {
      return fail(Code::bad_data, owner,
                  fmt::format("parameter '{}' is declared twice; correct the plugin", param.name));
    }
    out.list.push_back(std::move(param));
  }
  return out;
}

Result<Params> merge_request_params(const std::vector<const Params*>& parts) {
  Params merged{"requests", {}};
  std::map<std::string, std::string> owners;
  for (const Params* part : parts) {
    for (const Param& param : part->list) {
      if (!param.in_request()) continue;
      const Param* earlier = merged.find(param.name);
      if (earlier == nullptr) {
        merged.list.push_back(param);
        owners[param.name] = part->owner;
      } else if (!same_kind(*earlier, param)) {
        return fail(
            Code::bad_argument, param.name,
            fmt::format("'{}' declares this request parameter as {}, '{}' as {}; leave one of the two out",
                        owners[param.name], kind_text(*earlier), part->owner, kind_text(param)));
      }
    }
  }
  return merged;
}

}  // namespace mortise
