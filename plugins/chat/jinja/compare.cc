// Truth, equality, order and hash of values, as Python's operators define them.
// Thread rule: pure functions over one render's values. Flow: expressions, sorting filters, dictionaries.
#include <cmath>

#include "value.h"

namespace mortise::jinja {
namespace {

// Nested values are compared by recursion, so their depth counts.
class Depth {
 public:
  explicit Depth(Budget* budget) : budget_(budget) {
    if (budget_ != nullptr) budget_->enter(), budget_->spend();
  }
  ~Depth() {
    if (budget_ != nullptr) budget_->leave();
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  Budget* budget_;
};

// An int64 is exact in the 64-bit mantissa of long double.
long double wide(const Value& v) {
  return v.is(Kind::floating) ? static_cast<long double>(v.f) : static_cast<long double>(v.as_int());
}

bool equal_items(const std::vector<Value>& a, const std::vector<Value>& b, Budget* budget) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal(a[i], b[i], budget)) return false;
  }
  return true;
}

bool equal_dicts(Dict& a, Dict& b, Budget* budget) {
  if (a.items.size() != b.items.size()) return false;
  for (auto& [key, value] : a.items) {
    const Value* other = b.find(key, budget);
    if (other == nullptr || !equal(value, *other, budget)) return false;
  }
  return true;
}

bool equal_ranges(const Range& a, const Range& b) {
  if (a.size() != b.size()) return false;
  return a.size() == 0 || (a.start == b.start && (a.size() == 1 || a.step == b.step));
}

}  // namespace

const char* type_name(const Value& v) {
  switch (v.kind) {
    case Kind::missing:
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::floating:
      return "float";
    case Kind::string:
      return "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::dict:
      return "dict";
    case Kind::range:
      return "range";
    case Kind::view:
      return "dict view";
    case Kind::iterator:
      return "iterator";
    case Kind::ns:
      return "Namespace";
    case Kind::macro:
      return "Macro";
    case Kind::loop:
      return "LoopContext";
    case Kind::function:
      return "function";
    case Kind::cycler:
      return "Cycler";
    case Kind::joiner:
      return "Joiner";
  }
  return "object";
}

bool truth(const Value& v) {
  switch (v.kind) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
      return v.b;
    case Kind::integer:
      return v.i != 0;
    case Kind::floating:
      return v.f != 0;
    case Kind::string:
      return !v.text().empty();
    case Kind::list:
    case Kind::tuple:
      return !v.as<Seq>().items.empty();
    case Kind::dict:
      return !v.as<Dict>().items.empty();
    case Kind::view:
      return !v.as<View>().dict->items.empty();
    case Kind::range:
      return v.as<Range>().size() != 0;
    default:
      return true;
  }
}

bool equal(const Value& a, const Value& b, Budget* budget) {
  if (a.is_number() && b.is_number()) {
    return a.is_int() && b.is_int() ? a.as_int() == b.as_int() : wide(a) == wide(b);
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      if (budget != nullptr) budget->spend(1 + a.bytes().size() / 64);
      return a.bytes() == b.bytes();
    default:
      break;
  }
  if (a.o == b.o) return true;
  const Depth depth(budget);
  switch (a.kind) {
    case Kind::list:
    case Kind::tuple:
      return equal_items(a.as<Seq>().items, b.as<Seq>().items, budget);
    case Kind::dict:
      return equal_dicts(a.as<Dict>(), b.as<Dict>(), budget);
    case Kind::range:
      return equal_ranges(a.as<Range>(), b.as<Range>());
    default:
      return false;
  }
}

bool less(const Value& a, const Value& b, Budget* budget, const char* op) {
  for (const Value* v : {&a, &b}) {
    if (v->is(Kind::undefined)) raise(v->as<Undefined>().message);
  }
  if (a.is_number() && b.is_number()) {
    return a.is_int() && b.is_int() ? a.as_int() < b.as_int() : wide(a) < wide(b);
  }
  // UTF-8 bytes sort as code points do.
  if (a.is_string() && b.is_string()) return a.bytes() < b.bytes();
  if (a.is_sequence() && a.kind == b.kind) {
    const Depth depth(budget);
    const std::vector<Value>& x = a.as<Seq>().items;
    const std::vector<Value>& y = b.as<Seq>().items;
    for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (!equal(x[i], y[i], budget)) return less(x[i], y[i], budget, op);
    }
    return x.size() < y.size();
  }
  raise(std::string("'") + op + "' not supported between '" + type_name(a) + "' and '" + type_name(b) + "'");
}

size_t hash(const Value& v, Budget* budget) {
  switch (v.kind) {
    case Kind::boolean:
    case Kind::integer:
      return std::hash<int64_t>{}(v.as_int());
    case Kind::floating:
      if (v.f >= -9e18 && v.f <= 9e18 && std::trunc(v.f) == v.f) {
        return std::hash<int64_t>{}(static_cast<int64_t>(v.f));
      }
      return std::hash<double>{}(v.f);
    case Kind::string:
      return std::hash<std::string_view>{}(v.bytes());
    case Kind::tuple: {
      const Depth depth(budget);
      size_t h = 17;
      for (const Value& item : v.as<Seq>().items) h = h * 1000003 + hash(item, budget);
      return h;
    }
    case Kind::list:
    case Kind::dict:
      raise(std::string("unhashable type: '") + type_name(v) + "'");
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return static_cast<size_t>(v.kind);
    default:
      return std::hash<const void*>{}(v.o);
  }
}

}  // namespace mortise::jinja
