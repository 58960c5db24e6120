// Filters that compare items: sort, dictsort, unique, min, max, groupby.
// Thread rule: one render. Flow: found by name through arguments.cc.
#include <algorithm>
#include <iterator>
#include <memory>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

bool is_set(const Value& v) { return !v.is_missing() && truth(v); }

struct Keyed {
  Value key, value;
};

// Stable, also in reverse, as Python's sorted() is.
void sort_by_key(Interp& interp, std::vector<Keyed>& items, bool reverse) {
  Budget* budget = &interp.budget();
  const auto before = [budget, reverse](const Keyed& a, const Keyed& b) {
    budget->spend();
    return reverse ? less(b.key, a.key, budget) : less(a.key, b.key, budget);
  };
  // Also checks that neighbours can be compared at all.
  std::stable_sort(items.begin(), items.end(), before);
}

std::vector<Value> values_of(const std::vector<Keyed>& items) {
  std::vector<Value> out;
  for (const Keyed& item : items) out.push_back(item.value);
  return out;
}

// sort takes several attributes, "a,b"; their values make a list to compare by.
Value multi_key(Interp& interp, const std::vector<AttributePath>& paths, const Value& v) {
  std::vector<Value> keys;
  for (const AttributePath& path : paths) keys.push_back(path.get(interp, v));
  return interp.heap().list(std::move(keys));
}

std::vector<AttributePath> multi_path(Interp& interp, const Value& attribute, bool ignore_case) {
  std::vector<AttributePath> paths;
  if (!attribute.is_string()) return {attribute_path(interp, attribute, ignore_case)};
  const std::string& s = attribute.bytes();
  for (size_t begin = 0; begin <= s.size();) {
    const size_t comma = std::min(s.find(',', begin), s.size());
    paths.push_back(attribute_path(interp, interp.string(s.substr(begin, comma - begin)), ignore_case));
    begin = comma + 1;
  }
  return paths;
}

Value sort(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("sort", args, {"value", "reverse", "case_sensitive", "attribute"}, 1);
  const std::vector<AttributePath> paths = multi_path(interp, a[3], !is_set(a[2]));
  std::vector<Keyed> items;
  for (const Value& v : interp.items(a[0])) items.push_back({multi_key(interp, paths, v), v});
  sort_by_key(interp, items, is_set(a[1]));
  return interp.heap().list(values_of(items));
}

Value dictsort(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("dictsort", args, {"value", "case_sensitive", "by", "reverse"}, 1);
  const std::string by = a[2].is_missing() ? "key" : a[2].is_string() ? a[2].bytes() : "";
  if (by != "key" && by != "value") raise("You can only sort by either \"key\" or \"value\"");
  if (a[0].is(Kind::undefined)) raise(a[0].as<Undefined>().message);
  if (!a[0].is(Kind::dict)) raise(std::string("'") + type_name(a[0]) + "' object has no attribute 'items'");
  AttributePath path;
  path.ignore_case = !is_set(a[1]);
  std::vector<Keyed> items;
  for (const auto& [key, v] : a[0].as<Dict>().items) {
    items.push_back({path.get(interp, by == "key" ? key : v), interp.heap().tuple({key, v})});
  }
  sort_by_key(interp, items, is_set(a[3]));
  return interp.heap().list(values_of(items));
}

Value unique(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("unique", args, {"value", "case_sensitive", "attribute"}, 1);
  const AttributePath path = attribute_path(interp, a[2], !is_set(a[1]));
  Dict* seen = nullptr;
  interp.heap().dict(seen);
  // Not iterable is an error of the first item, as everything about a generator is.
  auto cursor = std::make_shared<Cursor>();
  auto started = std::make_shared<bool>(false);
  return interp.heap().iterator([&interp, path, over = a[0], cursor, started, seen](Value& out) {
    if (!*started) *cursor = Cursor(interp, over), *started = true;
    while (cursor->next(out)) {
      const Value key = path.get(interp, out);
      if (seen->find(key, &interp.budget()) != nullptr) continue;
      seen->set(key, Value::none(), &interp.budget());
      return true;
    }
    return false;
  });
}

Value extreme(Interp& interp, CallArgs& args, bool largest) {
  const std::vector<Value> a =
      bind(largest ? "max" : "min", args, {"value", "case_sensitive", "attribute"}, 1);
  Cursor cursor(interp, a[0]);
  Value best;
  if (!cursor.next(best)) return interp.heap().undefined("No aggregated item, sequence was empty.");
  const AttributePath path = attribute_path(interp, a[2], !is_set(a[1]));
  Value best_key = path.get(interp, best);
  for (Value v; cursor.next(v);) {
    const Value key = path.get(interp, v);
    const bool better =
        largest ? less(best_key, key, &interp.budget(), ">") : less(key, best_key, &interp.budget());
    if (better) best = v, best_key = key;
  }
  return best;
}
Value min(Interp& interp, CallArgs& args) { return extreme(interp, args, false); }
Value max(Interp& interp, CallArgs& args) { return extreme(interp, args, true); }

Value groupby(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("groupby", args, {"value", "attribute", "default", "case_sensitive"}, 2);
  AttributePath path = attribute_path(interp, a[1], !is_set(a[3]));
  if (!a[2].is(Kind::none)) path.fallback = a[2];
  std::vector<Keyed> items;
  for (const Value& v : interp.items(a[0])) items.push_back({path.get(interp, v), v});
  sort_by_key(interp, items, false);
  path.ignore_case = false;
  std::vector<Value> groups;
  for (size_t i = 0; i < items.size();) {
    std::vector<Value> members;
    const Value key = items[i].key;
    const Value shown = path.get(interp, items[i].value);
    while (i < items.size() && equal(items[i].key, key, &interp.budget()))
      members.push_back(items[i++].value);
    const Value group = interp.heap().tuple({shown, interp.heap().list(std::move(members))});
    group.as<Seq>().group = true;
    groups.push_back(group);
  }
  return interp.heap().list(std::move(groups));
}

constexpr BuiltinRow kFilters[] = {{"sort", sort}, {"dictsort", dictsort}, {"unique", unique},
                                   {"min", min},   {"max", max},           {"groupby", groupby}};

}  // namespace

Table<BuiltinRow> sorting_filters() { return {kFilters, std::size(kFilters)}; }

}  // namespace mortise::jinja
