// TOML text to Raw values; see toml_text.h. Thread rule: pure but for reading a file. Flow: first step of
// loading.
#include "config/toml_text.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>

namespace mortise {
namespace {

std::string position(const std::string& source, const toml::source_region& region) {
  if (region.begin.line == 0) return source;
  return fmt::format("{}:{}:{}", source, region.begin.line, region.begin.column);
}

/// The parser's words may quote the file at any length.
std::string one_line(std::string_view text) {
  constexpr size_t kMaxWords = 256;
  std::string out{text.substr(0, kMaxWords)};
  while (!is_utf8(out)) out.pop_back();
  if (out.size() < text.size()) out += "…";
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c >= 0 && c < 0x20; }, ' ');
  return out;
}

/// Past the string that begins at `i`. An unterminated one ends with its line or the text: the parser refuses
/// it.
size_t skip_string(std::string_view text, size_t i) {
  const char quote = text[i];
  const std::string fence(3, quote);
  if (text.substr(i, 3) == fence) {
    for (i += 3; i < text.size() && text.substr(i, 3) != fence; ++i) {
      if (quote == '"' && text[i] == '\\') ++i;
    }
    i += 3;
    // A multi-line string may end in one or two quotes of its own.
    for (int extra = 0; extra < 2 && i < text.size() && text[i] == quote; ++extra) ++i;
    return i;
  }
  for (++i; i < text.size() && text[i] != quote && text[i] != '\n'; ++i) {
    if (quote == '"' && text[i] == '\\') ++i;
  }
  return i + 1;
}

/// Refuses dotted keys of more than kMaxKeyParts parts. The TOML library bounds the depth of values but not
/// of keys, and walks nested tables recursively: a long run of `a.a.a` would overflow the stack.
Result<void> check_key_parts(std::string_view text, const std::string& source) {
  size_t dots = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_string(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.' && ++dots >= kMaxKeyParts) {
      const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n') + 1;
      return fail(Code::limit, fmt::format("{}:{}", source, line),
                  fmt::format("a dotted key has more than {} parts; shorten it", kMaxKeyParts));
    }
    if (c != ' ' && c != '\t' && std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
    ++i;
  }
  return {};
}

Raw raw_value(const toml::node& node, const std::string& source);

void raw_table(const toml::table& table, const std::string& source, Raw& out) {
  using Located = std::pair<toml::source_position, RawEntry>;
  std::vector<Located> located;
  located.reserve(table.size());
  for (auto&& [key, value] : table) {
    RawEntry entry{std::string{key.str()}, position(source, key.source()), raw_value(value, source)};
    located.emplace_back(key.source().begin, std::move(entry));
  }
  // The library iterates by name; errors and pins want the order of the file.
  std::stable_sort(located.begin(), located.end(), [](const Located& a, const Located& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  out.entries.reserve(located.size());
  for (Located& item : located) out.entries.push_back(std::move(item.second));
}

Raw raw_value(const toml::node& node, const std::string& source) {
  Raw out;
  out.where = position(source, node.source());
  out.from_file = true;
  switch (node.type()) {
    case toml::node_type::string:
      out.type = Raw::Type::string;
      out.s = node.as_string()->get();
      break;
    case toml::node_type::integer:
      out.type = Raw::Type::integer;
      out.i = node.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      out.type = Raw::Type::real;
      out.f = node.as_floating_point()->get();
      break;
    case toml::node_type::boolean:
      out.type = Raw::Type::boolean;
      out.i = node.as_boolean()->get() ? 1 : 0;
      break;
    case toml::node_type::array:
      out.type = Raw::Type::list;
      out.items.reserve(node.as_array()->size());
      for (const toml::node& item : *node.as_array()) out.items.push_back(raw_value(item, source));
      break;
    case toml::node_type::table:
      raw_table(*node.as_table(), source, out);
      break;
    default:
      out.type = Raw::Type::date;
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t size = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || i + size > text.size()) return false;
    uint32_t code = size == 1 ? lead : lead & (0x7Fu >> size);
    for (size_t k = 1; k < size; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if ((byte & 0xC0) != 0x80) return false;
      code = code << 6 | (byte & 0x3F);
    }
    constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    i += size;
  }
  return true;
}

Result<std::string> read_config_file(const std::filesystem::path& path) {
  const std::string where = path.string();
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return fail(Code::not_found, where, "there is no such file; check the path");
  }
  if (std::filesystem::is_directory(status)) {
    return fail(Code::io, where, "is a folder, not a pipeline file; name a .toml file in it");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return fail(Code::io, where, "cannot be read; check its permissions");
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxConfigBytes) {
    return fail(Code::limit, where,
                fmt::format("is larger than {} bytes; this is no pipeline file", kMaxConfigBytes));
  }
  return text;
}

Result<Raw> parse_toml(std::string_view text, const std::string& source) {
  if (text.size() > kMaxConfigBytes) {
    return fail(Code::limit, source, fmt::format("is larger than {} bytes; shorten it", kMaxConfigBytes));
  }
  MORTISE_CHECK(check_key_parts(text, source));
  try {
    return raw_value(toml::parse(text, std::string_view{source}), source);
  } catch (const toml::parse_error& e) {
    std::string_view what = e.description();
    if (const std::string_view prefix = "Error while "; what.substr(0, prefix.size()) == prefix) {
      what.remove_prefix(prefix.size());
    }
    return fail(Code::bad_argument, position(source, e.source()),
                fmt::format("is not valid TOML: {}; correct the line", one_line(what)));
  }
}

Result<Raw> parse_toml_value(std::string_view text, const std::string& source) {
  MORTISE_TRY(document, parse_toml("v=" + std::string{text}, source));
  // "1\nw=2" would smuggle in a second key.
  if (document.entries.size() != 1)
    return fail(Code::bad_argument, source, "is not one TOML value; write one value");
  return std::move(document.entries[0].value);
}

}  // namespace mortise
