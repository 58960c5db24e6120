// Filters on sequences: first, last, length, list, reverse, slice, batch, items, attr.
// Thread rule: one render. Flow: found by name through arguments.cc. What is a generator in the reference is
// a one-shot iterator here, and computes its items when they are asked for.
#include <iterator>
#include <memory>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

Value first(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("first", args, {"seq"}, 1);
  Cursor cursor(interp, a[0]);
  Value v;
  return cursor.next(v) ? v : interp.heap().undefined("No first item, sequence was empty.");
}

Value reversed(Interp& interp, const Value& v) {
  std::vector<Value> items = interp.items(v);
  auto left = std::make_shared<std::vector<Value>>(std::move(items));
  return interp.heap().iterator([left](Value& out) {
    if (left->empty()) return false;
    out = left->back();
    left->pop_back();
    return true;
  });
}

bool is_reversible(const Value& v) {
  return v.is_string() || v.is_sequence() || v.is(Kind::dict) || v.is(Kind::view) || v.is(Kind::range) ||
         v.is(Kind::undefined);
}

Value last(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("last", args, {"seq"}, 1);
  if (!is_reversible(a[0])) raise(std::string("'") + type_name(a[0]) + "' object is not reversible");
  const std::vector<Value> items = interp.items(a[0]);
  return items.empty() ? interp.heap().undefined("No last item, sequence was empty.") : items.back();
}

Value length(Interp& interp, CallArgs& args) {
  return Value::integer(interp.length(bind("length", args, {"*obj"}, 1)[0]));
}

Value list(Interp& interp, CallArgs& args) {
  return interp.heap().list(interp.items(bind("list", args, {"value"}, 1)[0]));
}

Value reverse(Interp& interp, CallArgs& args) {
  const Value v = bind("reverse", args, {"value"}, 1)[0];
  if (v.is_string()) return interp.slice(v, Value::none(), Value::none(), Value::integer(-1));
  if (is_reversible(v)) return reversed(interp, v);
  std::vector<Value> items = interp.items(v);
  return interp.heap().list({items.rbegin(), items.rend()});
}

// Gives out values one by one; `prepare` makes them when the first is asked for, so that errors come then
// too.
Value give(Interp& interp, std::function<std::vector<Value>()> prepare) {
  struct State {
    std::vector<Value> values;
    size_t at = 0;
    bool started = false;
  };
  auto state = std::make_shared<State>();
  return interp.heap().iterator([prepare, state](Value& out) {
    if (!state->started) {
      state->started = true;
      state->values = prepare();
    }
    if (state->at >= state->values.size()) return false;
    out = state->values[state->at++];
    return true;
  });
}

std::vector<Value> sliced(Interp& interp, const std::vector<Value>& a) {
  const std::vector<Value> items = interp.items(a[0]);
  const int64_t slices = need_int("slice", a[1]);
  if (slices == 0) raise("integer division or modulo by zero");
  const bool fill = !a[2].is_missing() && !a[2].is(Kind::none);
  std::vector<Value> out;
  const auto size = static_cast<int64_t>(items.size());
  for (int64_t i = 0, begin = 0; i < slices; ++i) {
    const int64_t count = size / slices + (i < size % slices ? 1 : 0);
    std::vector<Value> part(items.begin() + begin, items.begin() + begin + count);
    if (fill && i >= size % slices) part.push_back(a[2]);
    out.push_back(interp.heap().list(std::move(part)));
    begin += count;
  }
  return out;
}
Value slice(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("slice", args, {"value", "slices", "fill_with"}, 2);
  return give(interp, [&interp, a] { return sliced(interp, a); });
}

std::vector<Value> batched(Interp& interp, const std::vector<Value>& a) {
  const std::vector<Value> items = interp.items(a[0]);
  const Value& count = a[1];
  const bool fill = !a[2].is_missing() && !a[2].is(Kind::none);
  std::vector<Value> out, part;
  for (const Value& v : items) {
    if (equal(Value::integer(static_cast<int64_t>(part.size())), count, &interp.budget())) {
      out.push_back(interp.heap().list(std::move(part)));
      part.clear();
    }
    part.push_back(v);
  }
  if (!part.empty()) {
    if (fill && count.is_int() && count.as_int() > 0) {
      interp.budget().expect(static_cast<uint64_t>(count.as_int()), sizeof(Value));
      while (static_cast<int64_t>(part.size()) < count.as_int()) part.push_back(a[2]);
    }
    out.push_back(interp.heap().list(std::move(part)));
  }
  return out;
}
Value batch(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("batch", args, {"value", "linecount", "fill_with"}, 2);
  return give(interp, [&interp, a] { return batched(interp, a); });
}

Value items(Interp& interp, CallArgs& args) {
  const Value v = bind("items", args, {"value"}, 1)[0];
  return give(interp, [&interp, v] {
    std::vector<Value> pairs;
    if (v.is(Kind::undefined)) return pairs;
    if (!v.is(Kind::dict)) raise("can only get item pairs from a mapping");
    for (const auto& [key, value] : v.as<Dict>().items) pairs.push_back(interp.heap().tuple({key, value}));
    return pairs;
  });
}

Value attr(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("attr", args, {"obj", "name"}, 2);
  const std::string& name = need_string("attr", a[1]).bytes();
  if (!a[0].is(Kind::dict)) return interp.attribute(a[0], name);
  const Value found = builtin_attribute(interp, a[0], name);
  return found.is_missing() ? interp.heap().undefined("'dict object' has no attribute '" + name + "'")
                            : found;
}

constexpr BuiltinRow kFilters[] = {
    {"first", first},     {"last", last},   {"length", length}, {"count", length}, {"list", list},
    {"reverse", reverse}, {"slice", slice}, {"batch", batch},   {"items", items},  {"attr", attr}};

}  // namespace

Table<BuiltinRow> sequence_filters() { return {kFilters, std::size(kFilters)}; }

}  // namespace mortise::jinja
