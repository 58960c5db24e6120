// String methods that split, partition and classify.
// Thread rule: one render. Flow: found by methods.cc. Parts keep their provenance.
#include <algorithm>
#include <iterator>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

// Bytes [begin, end) of the parts.
using Parts = std::vector<Bounds>;

Value to_list(Interp& interp, const Value& self, const Parts& parts) {
  std::vector<Value> out;
  out.reserve(parts.size());
  for (const Bounds& p : parts) {
    out.push_back(interp.string(self.text().slice(p.begin, p.end), self.as<Str>().markup));
  }
  return interp.heap().list(std::move(out));
}

Parts split_space(std::string_view s, int64_t times, bool from_right) {
  Parts parts;
  Bounds rest = strip_bounds(s, nullptr, true, true);
  const auto space_at = [s](size_t at) { return is_space(next_code_point(s, at)); };
  while (rest.begin < rest.end && times-- != 0) {
    size_t at = from_right ? rest.end : rest.begin;
    if (from_right) {
      size_t start = at;
      while (at > rest.begin) {
        previous_code_point(s, start);
        if (space_at(start)) break;
        at = start;
      }
      parts.push_back({at, rest.end});
      rest.end = strip_bounds(s.substr(0, at), nullptr, false, true).end;
    } else {
      while (at < rest.end && !space_at(at)) next_code_point(s, at);
      parts.push_back({rest.begin, at});
      rest.begin = at + strip_bounds(s.substr(at), nullptr, true, false).begin;
    }
    if (rest.begin > rest.end) rest.end = rest.begin;
  }
  // What is left after `times` splits keeps its inner blanks; the outer ones went already, except at the far
  // end.
  if (rest.begin < rest.end) {
    const Bounds whole = from_right ? Bounds{0, rest.end} : Bounds{rest.begin, s.size()};
    const Bounds kept =
        strip_bounds(s.substr(whole.begin, whole.end - whole.begin), nullptr, !from_right, from_right);
    parts.push_back({whole.begin + kept.begin, whole.begin + kept.end});
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

Parts split_at(Interp& interp, std::string_view s, std::string_view separator, int64_t times,
               bool from_right) {
  Parts parts;
  Bounds rest{0, s.size()};
  while (times-- != 0) {
    const std::string_view part = s.substr(rest.begin, rest.end - rest.begin);
    const size_t at = from_right ? rfind_bytes(interp, part, separator) : find_bytes(part, separator);
    if (at == std::string_view::npos) break;
    const size_t begin = rest.begin + at, end = begin + separator.size();
    parts.push_back(from_right ? Bounds{end, rest.end} : Bounds{rest.begin, begin});
    (from_right ? rest.end : rest.begin) = from_right ? begin : end;
  }
  parts.push_back(rest);
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

Value split_any(Interp& interp, const Value& self, CallArgs& args, bool from_right) {
  const std::vector<Value> a = bind("split", args, {"sep", "maxsplit"}, 0);
  const int64_t times = a[1].is_missing() ? -1 : need_int("split", a[1]);
  interp.budget().spend(1 + self.text().size() / 8);
  if (a[0].is_missing() || a[0].is(Kind::none))
    return to_list(interp, self, split_space(self.bytes(), times, from_right));
  const std::string& separator = need_string("split", a[0]).bytes();
  if (separator.empty()) raise("empty separator");
  return to_list(interp, self, split_at(interp, self.bytes(), separator, times, from_right));
}
Value split(Interp& i, const Value& s, CallArgs& a) { return split_any(i, s, a, false); }
Value rsplit(Interp& i, const Value& s, CallArgs& a) { return split_any(i, s, a, true); }

Value splitlines(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("splitlines", args, {"keepends"}, 0);
  const bool keep = !a[0].is_missing() && truth(a[0]);
  Parts parts;
  for (const LineBounds& line : line_bounds(self.bytes()))
    parts.push_back({line.begin, keep ? line.next : line.end});
  return to_list(interp, self, parts);
}

Value partition_any(Interp& interp, const Value& self, CallArgs& args, bool last) {
  const std::vector<Value> a = bind("partition", args, {"*sep"}, 1);
  const std::string& separator = need_string("partition", a[0]).bytes();
  if (separator.empty()) raise("empty separator");
  const Text& text = self.text();
  const size_t at = last ? rfind_bytes(interp, self.bytes(), separator) : find_bytes(self.bytes(), separator);
  std::vector<Value> out;
  if (at == std::string::npos) {
    out = {self, interp.string(Text()), interp.string(Text())};
    if (last) std::swap(out[0], out[2]);
  } else {
    const size_t end = at + separator.size();
    out = {interp.string(text.slice(0, at)), interp.string(text.slice(at, end)),
           interp.string(text.slice(end, text.size()))};
  }
  return interp.heap().tuple(std::move(out));
}
Value partition(Interp& i, const Value& s, CallArgs& a) { return partition_any(i, s, a, false); }
Value rpartition(Interp& i, const Value& s, CallArgs& a) { return partition_any(i, s, a, true); }

// True where the string is not empty and every code point passes.
template <bool (*Class)(char32_t)>
Value all_of(Interp& interp, const Value& self, CallArgs& args) {
  bind("isalpha", args, {}, 0);
  interp.budget().spend(1 + self.text().size() / 16);
  const std::string& s = self.bytes();
  for (size_t at = 0; at < s.size();) {
    if (!Class(next_code_point(s, at))) return Value::boolean(false);
  }
  return Value::boolean(!s.empty());
}

bool ascii(char32_t c) { return c < 0x80; }
bool identifier_part(char32_t c) { return c == '_' || is_alnum(c); }

Value isascii(Interp& interp, const Value& self, CallArgs& args) {
  return self.text().empty() ? Value::boolean(true) : all_of<ascii>(interp, self, args);
}
Value isprintable(Interp& interp, const Value& self, CallArgs& args) {
  return self.text().empty() ? Value::boolean(true) : all_of<is_printable>(interp, self, args);
}
Value isidentifier(Interp& interp, const Value& self, CallArgs& args) {
  const bool digit = !self.text().empty() && self.bytes()[0] >= '0' && self.bytes()[0] <= '9';
  return digit ? Value::boolean(false) : all_of<identifier_part>(interp, self, args);
}
Value islower(Interp&, const Value& self, CallArgs& args) {
  bind("islower", args, {}, 0);
  return Value::boolean(is_lower_text(self.bytes()));
}
Value isupper(Interp&, const Value& self, CallArgs& args) {
  bind("isupper", args, {}, 0);
  return Value::boolean(is_upper_text(self.bytes()));
}
Value istitle(Interp&, const Value& self, CallArgs& args) {
  bind("istitle", args, {}, 0);
  bool in_word = false, any = false;
  for (size_t at = 0; at < self.bytes().size();) {
    const char32_t c = next_code_point(self.bytes(), at);
    const bool big = is_upper(c) || is_title(c);
    if ((big && in_word) || (is_lower(c) && !in_word)) return Value::boolean(false);
    in_word = big || is_lower(c);
    any = any || in_word;
  }
  return Value::boolean(any);
}

constexpr MethodRow kMethods[] = {{"split", split},
                                  {"rsplit", rsplit},
                                  {"splitlines", splitlines},
                                  {"partition", partition},
                                  {"rpartition", rpartition},
                                  {"isalpha", all_of<is_alpha>},
                                  {"isdecimal", all_of<is_decimal>},
                                  {"isdigit", all_of<is_digit>},
                                  {"isnumeric", all_of<is_numeric>},
                                  {"isalnum", all_of<is_alnum>},
                                  {"isspace", all_of<is_space>},
                                  {"isascii", isascii},
                                  {"isprintable", isprintable},
                                  {"isidentifier", isidentifier},
                                  {"islower", islower},
                                  {"isupper", isupper},
                                  {"istitle", istitle}};

}  // namespace

std::vector<LineBounds> line_bounds(std::string_view s) {
  std::vector<LineBounds> lines;
  for (size_t begin = 0, at = 0; at < s.size();) {
    const size_t end = at;
    const char32_t c = next_code_point(s, at);
    if (is_line_break(c)) {
      if (c == '\r' && at < s.size() && s[at] == '\n') ++at;
      lines.push_back({begin, end, at});
      begin = at;
    } else if (at >= s.size()) {
      lines.push_back({begin, at, at});
    }
  }
  return lines;
}

Table<MethodRow> splitting_methods() { return {kMethods, std::size(kMethods)}; }

}  // namespace mortise::jinja
