// Raw values and how errors show them; see raw.h. Thread rule: pure functions. Flow: between parser and
// checks.
#include "config/raw.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mortise {
namespace {

constexpr size_t kMaxShown = 48;  // code points of a string or key that an error shows

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

const RawEntry* Raw::find(std::string_view key) const {
  const auto it =
      std::find_if(entries.begin(), entries.end(), [key](const RawEntry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : &*it;
}

RawEntry* Raw::find(std::string_view key) { return const_cast<RawEntry*>(std::as_const(*this).find(key)); }

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  size_t shown = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0) == 0x80;
    if (!continues && ++shown > kMaxShown) {
      out += "…";
      break;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string key_text(std::string_view key) {
  const bool bare = !key.empty() && key.size() <= kMaxShown && std::all_of(key.begin(), key.end(), is_bare);
  return bare ? std::string{key} : quoted_text(key);
}

std::string found_text(const Raw& raw) {
  switch (raw.type) {
    case Raw::Type::null:
      return "null";
    case Raw::Type::boolean:
      return raw.i != 0 ? "true" : "false";
    case Raw::Type::integer:
      return fmt::format("the integer {}", raw.i);
    case Raw::Type::real:
      return fmt::format("the number {}", raw.f);
    case Raw::Type::string:
      return "the string " + quoted_text(raw.s);
    case Raw::Type::date:
      return "a date or time";
    case Raw::Type::list:
      return "a list";
    case Raw::Type::table:
      return "a table";
  }
  return "something else";
}

}  // namespace mortise
