// Attributes and methods of the builtin types, except the string methods.
// Thread rule: one render. Flow: a.b on anything but namespaces and macros ends here.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "builtins.h"

namespace mortise::jinja {
namespace {

Value view(Interp& interp, const Value& self, CallArgs& args, View::Which which, const char* who) {
  bind(who, args, {}, 0);
  View* v = interp.heap().make<View>();
  v->which = which;
  v->dict = &self.as<Dict>();
  return Value::of(Kind::view, v);
}
Value dict_keys(Interp& interp, const Value& self, CallArgs& args) {
  return view(interp, self, args, View::keys, "keys");
}
Value dict_values(Interp& interp, const Value& self, CallArgs& args) {
  return view(interp, self, args, View::values, "values");
}
Value dict_items(Interp& interp, const Value& self, CallArgs& args) {
  return view(interp, self, args, View::items, "items");
}
Value dict_get(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("get", args, {"*key", "*default"}, 1);
  const Value* found = self.as<Dict>().find(a[0], &interp.budget());
  return found != nullptr ? *found : a[1].is_missing() ? Value::none() : a[1];
}
Value dict_copy(Interp& interp, const Value& self, CallArgs& args) {
  bind("copy", args, {}, 0);
  Dict* copy = nullptr;
  const Value out = interp.heap().dict(copy);
  for (const auto& [key, value] : self.as<Dict>().items) copy->set(key, value, &interp.budget());
  return out;
}

Value seq_copy(Interp& interp, const Value& self, CallArgs& args) {
  bind("copy", args, {}, 0);
  return interp.heap().list(self.as<Seq>().items);
}
Value seq_count(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("count", args, {"*value"}, 1);
  int64_t n = 0;
  for (const Value& v : interp.items(self)) n += equal(v, a[0], &interp.budget()) ? 1 : 0;
  return Value::integer(n);
}
Value seq_index(Interp& interp, const Value& self, CallArgs& args) {
  const std::vector<Value> a = bind("index", args, {"*value", "*start", "*stop"}, 1);
  const std::vector<Value> items = interp.items(self);
  const auto size = static_cast<int64_t>(items.size());
  const auto bound = [size](const Value& v, int64_t fallback) {
    if (v.is_missing()) return fallback;
    const int64_t i = need_int("index", v);
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const int64_t stop = bound(a[2], size);
  for (int64_t i = bound(a[1], 0); i < stop; ++i) {
    if (equal(items[static_cast<size_t>(i)], a[0], &interp.budget())) return Value::integer(i);
  }
  raise("the value is not in the sequence");
}

Value float_is_integer(Interp&, const Value& self, CallArgs& args) {
  bind("is_integer", args, {}, 0);
  return Value::boolean(std::isfinite(self.f) && std::trunc(self.f) == self.f);
}
Value int_bit_length(Interp&, const Value& self, CallArgs& args) {
  bind("bit_length", args, {}, 0);
  int64_t bits = 0;
  for (uint64_t u = static_cast<uint64_t>(self.as_int() < 0 ? -self.as_int() : self.as_int()); u != 0;
       u >>= 1)
    ++bits;
  return Value::integer(bits);
}

Value cycler_next(Interp&, const Value& self, CallArgs& args) {
  bind("next", args, {}, 0);
  Cycler& c = self.as<Cycler>();
  const Value v = c.items[c.at];
  c.at = (c.at + 1) % c.items.size();
  return v;
}
Value cycler_reset(Interp&, const Value& self, CallArgs& args) {
  bind("reset", args, {}, 0);
  self.as<Cycler>().at = 0;
  return Value::none();
}

Value loop_cycle(Interp&, const Value& self, CallArgs& args) {
  if (args.pos.empty() || !args.kw.empty()) raise("no items for cycling given");
  return args.pos[static_cast<size_t>(self.as<Loop>().index0) % args.pos.size()];
}
Value loop_changed(Interp& interp, const Value& self, CallArgs& args) {
  if (!args.kw.empty()) raise("changed() takes no keyword arguments");
  Value& last = self.as<Loop>().changed;
  const Value now = interp.heap().tuple(args.pos);
  if (!last.is_missing() && equal(last, now, &interp.budget())) return Value::boolean(false);
  last = now;
  return Value::boolean(true);
}

constexpr MethodRow kDict[] = {{"items", dict_items},
                               {"keys", dict_keys},
                               {"values", dict_values},
                               {"get", dict_get},
                               {"copy", dict_copy}};
constexpr MethodRow kList[] = {{"copy", seq_copy}, {"count", seq_count}, {"index", seq_index}};
constexpr MethodRow kTuple[] = {{"count", seq_count}, {"index", seq_index}};
constexpr MethodRow kInt[] = {{"bit_length", int_bit_length}};
constexpr MethodRow kFloat[] = {{"is_integer", float_is_integer}};
constexpr MethodRow kCycler[] = {{"next", cycler_next}, {"reset", cycler_reset}};
constexpr MethodRow kLoop[] = {{"cycle", loop_cycle}, {"changed", loop_changed}};

template <size_t N>
Method find(const MethodRow (&rows)[N], std::string_view name) {
  const MethodRow* row = Table<MethodRow>{rows, N}.find(name);
  return row != nullptr ? row->call : nullptr;
}

Method find_method(const Value& v, std::string_view name) {
  switch (v.kind) {
    case Kind::string: {
      const MethodRow* row = string_methods().find(name);
      if (row == nullptr) row = splitting_methods().find(name);
      return row != nullptr ? row->call : nullptr;
    }
    case Kind::dict:
      return find(kDict, name);
    case Kind::list:
      return find(kList, name);
    case Kind::tuple:
    case Kind::range:
      return find(kTuple, name);
    case Kind::boolean:
    case Kind::integer:
      return find(kInt, name);
    case Kind::floating:
      return find(kFloat, name);
    case Kind::cycler:
      return find(kCycler, name);
    case Kind::loop:
      return find(kLoop, name);
    default:
      return nullptr;
  }
}

// Attributes that exist in Python but are refused in the immutable sandbox.
bool is_refused(const Value& v, std::string_view name) {
  static constexpr std::string_view kListRefused[] = {"append", "clear", "pop",    "reverse",
                                                      "insert", "sort",  "extend", "remove"};
  static constexpr std::string_view kDictRefused[] = {"clear", "pop", "popitem", "setdefault", "update"};
  const auto has = [name](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  return (v.is(Kind::list) && has(kListRefused)) || (v.is(Kind::dict) && has(kDictRefused));
}

}  // namespace

Value make_function(Heap& heap, Method call, const Value& self) {
  Function* f = heap.make<Function>();
  f->call = call;
  f->self = self;
  return Value::of(Kind::function, f);
}

Value builtin_attribute(Interp& interp, const Value& v, std::string_view name) {
  if (const Method method = find_method(v, name)) return make_function(interp.heap(), method, v);
  if (is_refused(v, name)) {
    return interp.heap().undefined("access to attribute '" + std::string(name) + "' of '" + type_name(v) +
                                   "' object is unsafe.");
  }
  if (v.is(Kind::tuple) && v.as<Seq>().group) {
    if (name == "grouper") return v.as<Seq>().items[0];
    if (name == "list") return v.as<Seq>().items[1];
  }
  if (v.is(Kind::cycler) && name == "current") return v.as<Cycler>().items[v.as<Cycler>().at];
  if (v.is(Kind::range)) {
    const Range& r = v.as<Range>();
    if (name == "start") return Value::integer(r.start);
    if (name == "stop") return Value::integer(r.stop);
    if (name == "step") return Value::integer(r.step);
  }
  if (v.is_int() && (name == "real" || name == "numerator")) return Value::integer(v.as_int());
  if (v.is_int() && (name == "imag" || name == "denominator")) return Value::integer(name == "imag" ? 0 : 1);
  if (v.is(Kind::floating) && (name == "real" || name == "imag"))
    return Value::floating(name == "real" ? v.f : 0.0);
  return Value();
}

}  // namespace mortise::jinja
