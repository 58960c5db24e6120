// String methods, except those that split.
// Thread rule: one render. Flow: found by methods.cc. Positions count code points, results keep provenance.
#include <algorithm>
#include <iterator>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

Value cased(Interp& interp, const Value& self, CallArgs& args, Case mode, const char* who) {
  bind(who, args, {}, 0);
  return interp.string(map_case(self.text(), mode), self.as<Str>().markup);
}
Value upper(Interp& i, const Value& s, CallArgs& a) { return cased(i, s, a, Case::upper, "upper"); }
Value lower(Interp& i, const Value& s, CallArgs& a) { return cased(i, s, a, Case::lower, "lower"); }
Value title(Interp& i, const Value& s, CallArgs& a) { return cased(i, s, a, Case::title, "title"); }
Value capitalize(Interp& i, const Value& s, CallArgs& a) {
  return cased(i, s, a, Case::capitalize, "capitalize");
}
Value swapcase(Interp& i, const Value& s, CallArgs& a) { return cased(i, s, a, Case::swap, "swapcase"); }
Value casefold(Interp& i, const Value& s, CallArgs& a) { return cased(i, s, a, Case::fold, "casefold"); }

Value stripped(Interp& interp, const Value& self, CallArgs& args, bool left, bool right) {
  const std::vector<Value> a = bind("strip", args, {"*chars"}, 0);
  const bool blank = a[0].is_missing() || a[0].is(Kind::none);
  const std::string* chars = blank ? nullptr : &need_string("strip", a[0]).bytes();
  interp.budget().spend(blank ? 0 : self.text().size() * chars->size() / 64);
  const Bounds b = strip_bounds(self.bytes(), chars, left, right);
  return interp.string(self.text().slice(b.begin, b.end), self.as<Str>().markup);
}
Value strip(Interp& i, const Value& s, CallArgs& a) { return stripped(i, s, a, true, true); }
Value lstrip(Interp& i, const Value& s, CallArgs& a) { return stripped(i, s, a, true, false); }
Value rstrip(Interp& i, const Value& s, CallArgs& a) { return stripped(i, s, a, false, true); }

// The part of a string that optional start and end arguments name; invalid where start lies behind end.
struct Window {
  size_t begin = 0, end = 0;  // bytes
  bool valid = true;
};
Window window(const char* who, const Value& self, const Value& start, const Value& stop) {
  const auto length = static_cast<int64_t>(self.as<Str>().length);
  const auto index = [&](const Value& v, int64_t fallback) {
    if (v.is_missing() || v.is(Kind::none)) return fallback;
    const int64_t i = need_int(who, v);
    return i < 0 ? std::max<int64_t>(i + length, 0) : i;
  };
  const int64_t begin = index(start, 0);
  const int64_t end = std::min(index(stop, length), length);
  if (begin > end) return {0, 0, false};
  const auto offset = [&](int64_t i) {
    return byte_offset(self.bytes(), static_cast<size_t>(i), self.as<Str>().length);
  };
  return {offset(begin), offset(end), true};
}

Value affix(Interp&, const Value& self, CallArgs& args, bool front, const char* who) {
  const std::vector<Value> a = bind(who, args, {"*affix", "*start", "*end"}, 1);
  std::vector<Value> options = {a[0]};
  if (a[0].is(Kind::tuple)) options = a[0].as<Seq>().items;
  const Window w = window(who, self, a[1], a[2]);
  const std::string_view part = std::string_view(self.bytes()).substr(w.begin, w.end - w.begin);
  for (const Value& option : options) {
    const std::string& s = need_string(who, option).bytes();
    if (!w.valid || s.size() > part.size()) continue;
    if (part.substr(front ? 0 : part.size() - s.size(), s.size()) == s) return Value::boolean(true);
  }
  return Value::boolean(false);
}
Value startswith(Interp& i, const Value& s, CallArgs& a) { return affix(i, s, a, true, "startswith"); }
Value endswith(Interp& i, const Value& s, CallArgs& a) { return affix(i, s, a, false, "endswith"); }

Value without_affix(Interp& interp, const Value& self, CallArgs& args, bool front) {
  const std::vector<Value> a = bind(front ? "removeprefix" : "removesuffix", args, {"*affix"}, 1);
  const std::string& s = need_string("removeprefix", a[0]).bytes();
  const std::string& bytes = self.bytes();
  const bool has =
      s.size() <= bytes.size() && bytes.compare(front ? 0 : bytes.size() - s.size(), s.size(), s) == 0;
  const size_t cut = has ? s.size() : 0;
  return interp.string(front ? self.text().slice(cut, bytes.size())
                             : self.text().slice(0, bytes.size() - cut));
}
Value removeprefix(Interp& i, const Value& s, CallArgs& a) { return without_affix(i, s, a, true); }
Value removesuffix(Interp& i, const Value& s, CallArgs& a) { return without_affix(i, s, a, false); }

// Index in code points, or -1.
int64_t search(Interp& interp, const Value& self, CallArgs& args, bool last, const char* who) {
  const std::vector<Value> a = bind(who, args, {"*sub", "*start", "*end"}, 1);
  const std::string& sub = need_string(who, a[0]).bytes();
  const Window w = window(who, self, a[1], a[2]);
  if (!w.valid) return -1;
  interp.budget().spend(1 + (w.end - w.begin) / 64);
  const std::string_view part = std::string_view(self.bytes()).substr(w.begin, w.end - w.begin);
  const size_t at = last ? rfind_bytes(interp, part, sub) : find_bytes(part, sub);
  if (at == std::string_view::npos) return -1;
  return static_cast<int64_t>(count_code_points(std::string_view(self.bytes()).substr(0, w.begin + at)));
}
Value find(Interp& i, const Value& s, CallArgs& a) { return Value::integer(search(i, s, a, false, "find")); }
Value rfind(Interp& i, const Value& s, CallArgs& a) { return Value::integer(search(i, s, a, true, "rfind")); }
Value found(int64_t at) {
  if (at < 0) raise("substring not found");
  return Value::integer(at);
}
Value index(Interp& i, const Value& s, CallArgs& a) { return found(search(i, s, a, false, "index")); }
Value rindex(Interp& i, const Value& s, CallArgs& a) { return found(search(i, s, a, true, "rindex")); }

Value count(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("count", args, {"*sub", "*start", "*end"}, 1);
  const std::string& sub = need_string("count", a[0]).bytes();
  const Window w = window("count", self, a[1], a[2]);
  if (!w.valid) return Value::integer(0);
  const std::string_view part = std::string_view(self.bytes()).substr(w.begin, w.end - w.begin);
  interp.budget().spend(1 + part.size() / 64);
  if (sub.empty()) return Value::integer(static_cast<int64_t>(count_code_points(part)) + 1);
  int64_t n = 0;
  for (size_t at = find_bytes(part, sub); at != std::string_view::npos;
       at = find_bytes(part, sub, at + sub.size())) {
    ++n;
  }
  return Value::integer(n);
}

Value replace(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("replace", args, {"*old", "*new", "*count"}, 2);
  const int64_t times = a[2].is_missing() ? -1 : need_int("replace", a[2]);
  const Text& old = need_string("replace", a[0]);
  return interp.string(replace_text(interp, self.text(), old.bytes(), need_string("replace", a[1]), times));
}

Value padded(Interp& interp, const Value& self, CallArgs& args, const char* who, int left_share) {
  const std::vector<Value> a = bind(who, args, {"*width", "*fillchar"}, 1);
  const Text fill = a[1].is_missing() ? Text(" ") : need_string(who, a[1]);
  if (count_code_points(fill.bytes()) != 1)
    raise(std::string(who) + "(): the fill character must be one character");
  const int64_t width = need_int(who, a[0]);
  const auto length = static_cast<int64_t>(self.as<Str>().length);
  if (width <= length) return self;
  const int64_t pad = width - length;
  // Python's centering: an odd blank goes left where the width is odd too.
  const int64_t left = left_share == 1 ? pad / 2 + (pad & width & 1) : left_share == 0 ? 0 : pad;
  interp.budget().expect(static_cast<uint64_t>(pad), fill.cost());
  Text out;
  for (int64_t i = 0; i < left; ++i) out.append(fill);
  out.append(self.text());
  for (int64_t i = left; i < pad; ++i) out.append(fill);
  return interp.string(std::move(out), self.as<Str>().markup);
}
Value ljust(Interp& i, const Value& s, CallArgs& a) { return padded(i, s, a, "ljust", 0); }
Value center(Interp& i, const Value& s, CallArgs& a) { return padded(i, s, a, "center", 1); }
Value rjust(Interp& i, const Value& s, CallArgs& a) { return padded(i, s, a, "rjust", 2); }

Value zfill(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("zfill", args, {"*width"}, 1);
  const int64_t pad = need_int("zfill", a[0]) - static_cast<int64_t>(self.as<Str>().length);
  if (pad <= 0) return self;
  interp.budget().expect(static_cast<uint64_t>(pad), 1);
  const std::string& bytes = self.bytes();
  const size_t sign = !bytes.empty() && (bytes[0] == '-' || bytes[0] == '+') ? 1 : 0;
  Text out = self.text().slice(0, sign);
  out.append(std::string(static_cast<size_t>(pad), '0'), false);
  out.append(self.text(), sign, bytes.size());
  return interp.string(std::move(out));
}

Value join(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("join", args, {"*iterable"}, 1);
  Text out;
  bool first = true;
  for (const Value& v : interp.items(a[0])) {
    if (!v.is_string())
      raise(std::string("sequence item: expected str instance, ") + type_name(v) + " found");
    if (!first) out.append(self.text());
    first = false;
    out.append(v.text());
    interp.budget().expect(out.cost(), 1);
  }
  return interp.string(std::move(out));
}

Value format(Interp& interp, const Value& self, CallArgs& args) {
  return interp.string(format_brace(interp, self.text(), args));
}
Value format_map(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("format_map", args, {"*mapping"}, 1);
  CallArgs named;
  if (!a[0].is(Kind::dict)) raise("format_map() needs a mapping");
  for (const auto& [key, v] : a[0].as<Dict>().items) {
    if (key.is_string()) named.kw.emplace_back(key.bytes(), v);
  }
  return interp.string(format_brace(interp, self.text(), named));
}

constexpr MethodRow kMethods[] = {{"upper", upper},
                                  {"lower", lower},
                                  {"title", title},
                                  {"capitalize", capitalize},
                                  {"swapcase", swapcase},
                                  {"casefold", casefold},
                                  {"strip", strip},
                                  {"lstrip", lstrip},
                                  {"rstrip", rstrip},
                                  {"startswith", startswith},
                                  {"endswith", endswith},
                                  {"removeprefix", removeprefix},
                                  {"removesuffix", removesuffix},
                                  {"find", find},
                                  {"rfind", rfind},
                                  {"index", index},
                                  {"rindex", rindex},
                                  {"count", count},
                                  {"replace", replace},
                                  {"ljust", ljust},
                                  {"center", center},
                                  {"rjust", rjust},
                                  {"zfill", zfill},
                                  {"join", join},
                                  {"format", format},
                                  {"format_map", format_map}};

}  // namespace

size_t rfind_bytes(Interp& interp, std::string_view hay, std::string_view needle) {
  const uint64_t starts = hay.size() - std::min(hay.size(), needle.size());
  interp.budget().spend(1 + starts / 64 * std::max<size_t>(needle.size(), 1));
  return hay.rfind(needle);
}

Text replace_text(Interp& interp, const Text& text, const std::string& old, const Text& by, int64_t times) {
  const std::string& bytes = text.bytes();
  Text out;
  size_t from = 0;
  int64_t done = 0;
  const auto limit = [&] {
    interp.budget().expect(out.cost(), 1), interp.budget().spend(1 + by.size() / 64);
  };
  if (old.empty()) {
    // The replacement stands before every character and at the end.
    for (size_t at = 0; times < 0 || done < times; ++done) {
      limit();
      out.append(by);
      from = at;
      if (at >= bytes.size()) break;
      next_code_point(bytes, at);
      out.append(text, from, at);
      from = at;
    }
  } else {
    for (size_t at = find_bytes(bytes, old); at != std::string::npos && (times < 0 || done < times); ++done) {
      limit();
      out.append(text, from, at);
      out.append(by);
      from = at + old.size();
      at = find_bytes(bytes, old, from);
    }
  }
  out.append(text, from, bytes.size());
  return out;
}

Table<MethodRow> string_methods() { return {kMethods, std::size(kMethods)}; }

}  // namespace mortise::jinja
