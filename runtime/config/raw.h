// A value as somebody wrote it, in TOML, in --set or in JSON: its type is known, its meaning not yet.
// Thread rule: plain data. Flow: TOML text or a request -> Raw -> checked against a declaration -> Value
// (params.h).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise {

struct RawEntry;

/// A value with its origin. Tables keep the order in which they were written.
struct Raw {
  enum class Type : uint8_t { null, boolean, integer, real, string, date, list, table };
  Type type = Type::table;
  bool from_file =
      false;      // relative paths are relative to the pipeline file's folder; else to the process's own
  int64_t i = 0;  // boolean, integer
  double f = 0;   // real
  std::string s;  // string
  std::vector<Raw> items;         // list
  std::vector<RawEntry> entries;  // table
  std::string where;              // "file:line:column" or "--set KEY", as Error::where wants it

  bool is(Type t) const { return type == t; }
  const RawEntry* find(std::string_view key) const;
  RawEntry* find(std::string_view key);
};

struct RawEntry {
  std::string key;
  std::string where;  // of the key; a value's own position is value.where
  Raw value;
};

/// What an error says was found: `the integer 5`, `the string "abc"`, `a list`. One line, shortened, escaped.
std::string found_text(const Raw& raw);

/// `text` in double quotes on one line: control characters escaped, cut after 48 code points.
std::string quoted_text(std::string_view text);

/// A key as TOML would need it: bare where possible, else quoted, and shortened like a string.
std::string key_text(std::string_view key);

}  // namespace mortise
