// --set KEY=VALUE applied to a parsed pipeline; see toml_text.h. Thread rule: pure functions.
// Flow: after the file is parsed, before anything is checked, so that a setting is checked like the file.
#include <fmt/format.h>

#include <algorithm>

#include "config/toml_text.h"

namespace mortise {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Position of the first '=' outside quoted key parts, or npos.
size_t find_equals(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && c == '=') return i;
    if (quote == '"' && c == '\\') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    }
  }
  return std::string_view::npos;
}

/// `a."b.c".d` -> its parts, by the TOML parser's own rules.
Result<std::vector<std::string>> split_key(std::string_view key, const std::string& where) {
  const auto control = [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7F; };
  const auto bad = fail(Code::bad_argument, where, "is not a key; write it as in TOML, table.key=value");
  if (key.empty() || std::any_of(key.begin(), key.end(), control)) return bad;
  const Result<Raw> parsed = parse_toml(std::string{key} + "=0", where);
  if (!parsed) return bad;
  std::vector<std::string> parts;
  const Raw* at = &*parsed;
  for (; at->is(Raw::Type::table); at = &at->entries[0].value) {
    if (at->entries.size() != 1) return bad;
    parts.push_back(at->entries[0].key);
  }
  return parts;
}

void set_origin(Raw& raw, const std::string& where) {
  raw.where = where;
  raw.from_file = false;
  for (Raw& item : raw.items) set_origin(item, where);
  for (RawEntry& entry : raw.entries) {
    entry.where = where;
    set_origin(entry.value, where);
  }
}

}  // namespace

Result<void> put_value(Raw& root, const std::vector<std::string>& keys, Raw value) {
  Raw* at = &root;
  const std::string where = value.where;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!at->is(Raw::Type::table)) {
      return fail(Code::bad_argument, where,
                  fmt::format("'{}' is already {} and has no keys; set {} as a whole", key_text(keys[i - 1]),
                              found_text(*at), key_text(keys[i - 1])));
    }
    RawEntry* entry = at->find(keys[i]);
    if (entry == nullptr) {
      RawEntry made{keys[i], where, Raw{}};
      made.value.where = where;
      at->entries.push_back(std::move(made));
      entry = &at->entries.back();
    }
    at = &entry->value;
    // The key is named by the setting from here on: an error about it must point at the setting.
    if (i + 1 == keys.size()) entry->where = where;
  }
  *at = std::move(value);
  return {};
}

Result<void> apply_setting(Raw& root, std::string_view setting) {
  if (!is_utf8(setting)) return fail(Code::bad_argument, "--set", "is not UTF-8; write it in UTF-8");
  const size_t equals = find_equals(setting);
  const std::string_view key = trimmed(setting.substr(0, std::min(equals, setting.size())));
  if (equals == std::string_view::npos) {
    return fail(Code::bad_argument, "--set " + quoted_text(setting), "has no '='; write --set key=value");
  }
  std::string where = "--set " + std::string{key};
  std::replace_if(
      where.begin(), where.end(), [](char c) { return c >= 0 && c < 0x20; }, ' ');
  if (key.empty())
    return fail(Code::bad_argument, "--set " + quoted_text(setting), "has no key; write --set key=value");
  MORTISE_TRY(parts, split_key(key, where));
  const std::string text{setting.substr(equals + 1)};
  Result<Raw> parsed = parse_toml_value(text, where);
  Raw value;
  if (parsed) {
    value = std::move(*parsed);
  } else if (parsed.error().code == Code::limit) {
    return pass(parsed.error());
  } else {
    value.type = Raw::Type::string;
    value.s = text;
  }
  set_origin(value, where);
  return put_value(root, parts, std::move(value));
}

}  // namespace mortise
