// Filters that lay text out: indent, truncate, center, wordcount, wordwrap, striptags.
// Thread rule: one render. Flow: found by name through arguments.cc.
#include <iterator>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

bool is_set(const Value& v) { return !v.is_missing() && !v.is(Kind::none); }

Value indent(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("indent", args, {"s", "width", "first", "blank"}, 1);
  Text indention;
  if (a[1].is_string()) {
    indention = a[1].text();
  } else {
    const int64_t width = a[1].is_missing() ? 4 : need_int("indent", a[1]);
    if (width > kMaxFormatWidth) raise("indent(): the width is too large", Code::limit);
    indention = Text(std::string(static_cast<size_t>(width < 0 ? 0 : width), ' '));
  }
  if (a[0].is(Kind::undefined)) raise(a[0].as<Undefined>().message);
  if (!a[0].is_string()) raise(std::string("indent(): a string is needed, not ") + type_name(a[0]));
  const bool first = !a[2].is_missing() && truth(a[2]);
  const bool blank = !a[3].is_missing() && truth(a[3]);
  Text source = a[0].text();
  source.append("\n", false);  // so that a last line break makes a last, empty line
  Text out;
  bool head = true;
  for (const LineBounds& line : line_bounds(source.bytes())) {
    if (!head) out.append("\n", false);
    if (head ? first : blank || line.end > line.begin) out.append(indention);
    head = false;
    out.append(source, line.begin, line.end);
    interp.budget().expect(out.cost(), 1);
  }
  return interp.string(std::move(out));
}

Value truncate(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("truncate", args, {"s", "length", "killwords", "end", "leeway"}, 1);
  const int64_t length = a[1].is_missing() ? 255 : need_int("truncate", a[1]);
  const Text end = a[3].is_missing() ? Text("...") : need_string("truncate", a[3]);
  const int64_t leeway = is_set(a[4]) ? need_int("truncate", a[4]) : 5;
  const auto end_length = static_cast<int64_t>(count_code_points(end.bytes()));
  if (length < end_length) raise("truncate(): the length is shorter than the end mark");
  if (leeway < 0) raise("truncate(): the leeway is negative");
  if (a[0].is(Kind::undefined) || interp.length(a[0]) - length <= leeway) return a[0];
  const Text& text = need_string("truncate", a[0]);
  Text out = text.slice(
      0, byte_offset(text.bytes(), static_cast<size_t>(length - end_length), a[0].as<Str>().length));
  if (a[2].is_missing() || !truth(a[2])) {
    const size_t blank = out.bytes().rfind(' ');
    if (blank != std::string::npos) out = out.slice(0, blank);
  }
  out.append(is_markup(a[0]) ? escape_html(end) : end);
  return interp.string(std::move(out), is_markup(a[0]));
}

Value center(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("center", args, {"value", "width"}, 1);
  CallArgs inner;
  inner.pos.push_back(a[1].is_missing() ? Value::integer(80) : a[1]);
  const Value text = interp.string(interp.text(a[0]), is_markup(a[0]));
  return string_methods().find("center")->call(interp, text, inner);
}

Value wordcount(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("wordcount", args, {"s"}, 1);
  const Text text = interp.text(a[0]);
  int64_t words = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text.bytes(), at);
    const bool word = c == '_' || is_alnum(c);
    if (word && !inside) ++words;
    inside = word;
  }
  return Value::integer(words);
}

// Words of one line packed into lines of `width` code points; a longer word is cut where `cut` says so.
void wrap_line(const Text& line, size_t width, bool cut, const Text& separator, Text& out) {
  const std::string& s = line.bytes();
  std::vector<Bounds> chunks;  // runs of blanks and runs of other characters, alternating
  for (size_t at = 0; at < s.size();) {
    const bool blank = s[at] == ' ' || s[at] == '\t';
    size_t end = at;
    while (end < s.size() && (s[end] == ' ' || s[end] == '\t') == blank) ++end;
    chunks.push_back({at, end});
    at = end;
  }
  const auto is_blank = [&s](const Bounds& c) { return s[c.begin] == ' ' || s[c.begin] == '\t'; };
  const auto length = [&s](size_t b, size_t e) {
    return count_code_points(std::string_view(s).substr(b, e - b));
  };
  bool first_line = true;
  for (size_t i = 0; i < chunks.size();) {
    if (!first_line && is_blank(chunks[i])) ++i;
    if (i >= chunks.size()) break;
    const size_t begin = chunks[i].begin;
    size_t end = begin;
    while (i < chunks.size() && length(begin, chunks[i].end) <= width) end = chunks[i++].end;
    if (end == begin) {
      end = cut ? begin + byte_offset(std::string_view(s).substr(begin), width, length(begin, s.size()))
                : chunks[i].end;
      chunks[i].begin = end;
      if (chunks[i].begin == chunks[i].end) ++i;
    }
    const size_t kept =
        strip_bounds(std::string_view(s).substr(begin, end - begin), nullptr, false, true).end;
    if (kept == 0) continue;
    if (!first_line) out.append(separator);
    first_line = false;
    out.append(line, begin, begin + kept);
  }
}

Value wordwrap(Interp& interp, CallArgs& args) {
  const std::vector<Value> a =
      bind("wordwrap", args, {"s", "width", "break_long_words", "wrapstring", "break_on_hyphens"}, 1);
  const int64_t width = a[1].is_missing() ? 79 : need_int("wordwrap", a[1]);
  if (width <= 0) raise("wordwrap(): the width must be above 0");
  const bool cut = a[2].is_missing() || truth(a[2]);
  const Text separator = is_set(a[3]) ? need_string("wordwrap", a[3]) : Text("\n");
  const Text& text = need_string("wordwrap", a[0]);
  interp.budget().spend(text.size());
  Text out;
  bool first = true;
  for (const LineBounds& line : line_bounds(text.bytes())) {
    if (!first) out.append(separator);
    first = false;
    wrap_line(text.slice(line.begin, line.end), static_cast<size_t>(width), cut, separator, out);
    interp.budget().expect(out.cost(), 1);
  }
  return interp.string(std::move(out));
}

constexpr BuiltinRow kFilters[] = {{"indent", indent},
                                   {"truncate", truncate},
                                   {"center", center},
                                   {"wordcount", wordcount},
                                   {"wordwrap", wordwrap}};

}  // namespace

Table<BuiltinRow> layout_filters() { return {kFilters, std::size(kFilters)}; }

}  // namespace mortise::jinja
