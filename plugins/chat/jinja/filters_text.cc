// Filters on strings: case, trimming, replacement, escaping, joining, tojson.
// Thread rule: one render. Flow: found by name through arguments.cc.
#include <iterator>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

Value cased(Interp& interp, CallArgs& args, const char* who, Case mode) {
  const std::vector<Value> a = bind(who, args, {"s"}, 1);
  return interp.string(map_case(interp.text(a[0]), mode), is_markup(a[0]));
}
Value upper(Interp& i, CallArgs& a) { return cased(i, a, "upper", Case::upper); }
Value lower(Interp& i, CallArgs& a) { return cased(i, a, "lower", Case::lower); }
Value capitalize(Interp& i, CallArgs& a) { return cased(i, a, "capitalize", Case::capitalize); }

// Words begin behind blanks and opening brackets here, unlike in str.title().
Value title(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("title", args, {"s"}, 1);
  const Text text = interp.text(a[0]);
  const std::string& s = text.bytes();
  const auto separates = [](char32_t c) {
    return is_space(c) || (c < 0x80 && c != 0 &&
                           std::string_view("-({[<").find(static_cast<char>(c)) != std::string_view::npos);
  };
  Text out;
  for (size_t at = 0; at < s.size();) {
    const size_t begin = at;
    size_t first_end = at;
    const bool separator = separates(next_code_point(s, first_end));
    while (at < s.size()) {
      size_t next = at;
      if (separates(next_code_point(s, next)) != separator) break;
      at = next;
    }
    out.append(map_case(text.slice(begin, first_end), Case::upper));
    out.append(map_case(text.slice(first_end, at), Case::lower));
  }
  return interp.string(std::move(out));
}

Value trim(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("trim", args, {"value", "chars"}, 1);
  const Text text = interp.text(a[0]);
  const bool blank = a[1].is_missing() || a[1].is(Kind::none);
  const std::string* chars = blank ? nullptr : &need_string("trim", a[1]).bytes();
  interp.budget().spend(blank ? 0 : text.size() * chars->size() / 64);
  const Bounds b = strip_bounds(text.bytes(), chars, true, true);
  return interp.string(text.slice(b.begin, b.end), is_markup(a[0]));
}

Value replace(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("replace", args, {"s", "old", "new", "count"}, 3);
  const int64_t times = a[3].is_missing() || a[3].is(Kind::none) ? -1 : need_int("replace", a[3]);
  return interp.string(
      replace_text(interp, interp.text(a[0]), interp.text(a[1]).bytes(), interp.text(a[2]), times));
}

Value string(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("string", args, {"s"}, 1);
  return a[0].is_string() ? a[0] : interp.string(interp.text(a[0]));
}

Value escape(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("escape", args, {"*s"}, 1);
  if (is_markup(a[0])) return a[0];
  return interp.string(escape_html(interp.text(a[0])), true);
}
Value forceescape(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("forceescape", args, {"value"}, 1);
  return interp.string(escape_html(interp.text(a[0])), true);
}
Value safe(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("safe", args, {"value"}, 1);
  return interp.string(interp.text(a[0]), true);
}

Value join(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("join", args, {"value", "d", "attribute"}, 1);
  const Text separator = a[1].is_missing() ? Text() : interp.text(a[1]);
  const bool by_attribute = !a[2].is_missing() && !a[2].is(Kind::none);
  const AttributePath path = attribute_path(interp, a[2], false);
  Text out;
  bool first = true;
  Cursor cursor(interp, a[0]);
  for (Value v; cursor.next(v);) {
    if (!first) out.append(separator);
    first = false;
    out.append(interp.text(by_attribute ? path.get(interp, v) : v));
    interp.budget().expect(out.cost(), 1);
  }
  return interp.string(std::move(out));
}

Value format(Interp& interp, CallArgs& args) {
  if (args.pos.empty()) raise("format() lacks its pattern");
  const Text pattern = interp.text(args.pos[0]);
  if (args.pos.size() > 1 && !args.kw.empty()) {
    raise("can't handle positional and keyword arguments at the same time");
  }
  if (args.kw.empty()) {
    return interp.string(
        format_percent(interp, pattern, interp.heap().tuple({args.pos.begin() + 1, args.pos.end()})));
  }
  Dict* dict = nullptr;
  const Value named = interp.heap().dict(dict);
  for (const auto& [name, v] : args.kw) dict->set(interp.string(name), v, &interp.budget());
  return interp.string(format_percent(interp, pattern, named));
}

Value tojson(Interp& interp, CallArgs& args) {
  const std::vector<Value> a =
      bind("tojson", args, {"x", "ensure_ascii", "indent", "separators", "sort_keys"}, 1);
  JsonStyle style;
  style.ensure_ascii = !a[1].is_missing() && truth(a[1]);
  style.sort_keys = !a[4].is_missing() && truth(a[4]);
  style.pretty = !a[2].is_missing() && !a[2].is(Kind::none);
  if (style.pretty && a[2].is_string()) {
    style.indent = a[2].text();
  } else if (style.pretty) {
    const int64_t width = need_int("tojson", a[2]);
    if (width > kMaxFormatWidth) raise("tojson(): the indent is too wide", Code::limit);
    style.indent = Text(std::string(static_cast<size_t>(width < 0 ? 0 : width), ' '));
  }
  style.item_separator = Text(style.pretty ? "," : ", ");
  style.key_separator = Text(": ");
  if (!a[3].is_missing() && !a[3].is(Kind::none)) {
    const std::vector<Value> pair = interp.items(a[3]);
    if (pair.size() != 2) raise("tojson(): separators must be a pair");
    style.item_separator = need_string("tojson", pair[0]);
    style.key_separator = need_string("tojson", pair[1]);
  }
  return interp.string(to_json(interp, a[0], style));
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-' || c == '~';
}
void quote(Text& out, const Text& text, bool query) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes()[i];
    const auto byte = static_cast<uint8_t>(c);
    const bool user = text.user_at(i);
    if (is_unreserved(c) || (c == '/' && !query)) {
      out.append({&c, 1}, user);
    } else if (c == ' ' && query) {
      out.append("+", user);
    } else {
      const char escaped[3] = {'%', kHex[byte >> 4], kHex[byte & 15]};
      out.append({escaped, 3}, user);
    }
  }
}
Value urlencode(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("urlencode", args, {"value"}, 1);
  const bool iterable = a[0].is_sequence() || a[0].is(Kind::dict) || a[0].is(Kind::view) ||
                        a[0].is(Kind::iterator) || a[0].is(Kind::range) || a[0].is(Kind::undefined);
  Text out;
  if (!iterable) {
    quote(out, interp.text(a[0]), false);
    return interp.string(std::move(out));
  }
  const auto pair = [&](const Value& key, const Value& v) {
    if (!out.empty()) out.append("&", false);
    quote(out, interp.text(key), true);
    out.append("=", false);
    quote(out, interp.text(v), true);
  };
  if (a[0].is(Kind::dict)) {
    for (const auto& [key, v] : a[0].as<Dict>().items) pair(key, v);
    return interp.string(std::move(out));
  }
  for (const Value& v : interp.items(a[0])) {
    const std::vector<Value> both = interp.items(v);
    if (both.size() != 2) raise("urlencode() needs pairs of key and value");
    pair(both[0], both[1]);
  }
  return interp.string(std::move(out));
}

constexpr BuiltinRow kFilters[] = {{"upper", upper},
                                   {"lower", lower},
                                   {"capitalize", capitalize},
                                   {"title", title},
                                   {"trim", trim},
                                   {"replace", replace},
                                   {"string", string},
                                   {"escape", escape},
                                   {"e", escape},
                                   {"forceescape", forceescape},
                                   {"safe", safe},
                                   {"join", join},
                                   {"format", format},
                                   {"tojson", tojson},
                                   {"urlencode", urlencode}};

}  // namespace

Text escape_html(const Text& text) {
  Text out;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes()[i];
    const char* entity = c == '&'    ? "&amp;"
                         : c == '<'  ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '\'' ? "&#39;"
                         : c == '"'  ? "&#34;"
                                     : nullptr;
    if (entity == nullptr) continue;
    out.append(text, from, i);
    out.append(entity, text.user_at(i));
    from = i + 1;
  }
  out.append(text, from, text.size());
  return out;
}

Table<BuiltinRow> text_filters() { return {kFilters, std::size(kFilters)}; }

}  // namespace mortise::jinja
