// Values of the template language, as Python has them, and the heap that owns them.
// Thread rule: a heap and its values belong to one render (or, read only, to one parsed template).
// Flow: parser makes constants, the JSON reader makes the input, the evaluator makes the rest.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "budget.h"
#include "text.h"

namespace mortise::jinja {

enum class Kind : uint8_t {
  missing,
  undefined,
  none,
  boolean,
  integer,
  floating,
  string,
  list,
  tuple,
  dict,
  range,
  view,
  iterator,
  ns,
  macro,
  loop,
  function,
  cycler,
  joiner
};

struct Object {
  virtual ~Object() = default;
};
struct Str;
struct Seq;
struct Dict;

/// A plain word; objects belong to a Heap.
struct Value {
  Kind kind = Kind::missing;
  union {
    bool b;
    int64_t i;
    double f;
    Object* o = nullptr;
  };

  static Value none() { return of(Kind::none, nullptr); }
  static Value boolean(bool b) {
    Value v;
    v.kind = Kind::boolean, v.b = b;
    return v;
  }
  static Value integer(int64_t i) {
    Value v;
    v.kind = Kind::integer, v.i = i;
    return v;
  }
  static Value floating(double f) {
    Value v;
    v.kind = Kind::floating, v.f = f;
    return v;
  }
  static Value of(Kind kind, Object* o) {
    Value v;
    v.kind = kind, v.o = o;
    return v;
  }
  bool is(Kind k) const { return kind == k; }
  bool is_missing() const { return kind == Kind::missing; }
  bool is_string() const { return kind == Kind::string; }
  bool is_sequence() const { return kind == Kind::list || kind == Kind::tuple; }
  /// int or bool, which Python takes for one another.
  bool is_int() const { return kind == Kind::integer || kind == Kind::boolean; }
  int64_t as_int() const { return kind == Kind::boolean ? (b ? 1 : 0) : i; }
  bool is_number() const { return is_int() || kind == Kind::floating; }
  double as_double() const { return kind == Kind::floating ? f : static_cast<double>(as_int()); }
  const Text& text() const;
  const std::string& bytes() const { return text().bytes(); }
  template <class T>
  T& as() const {
    return *static_cast<T*>(o);
  }
};

struct Undefined : Object {
  std::string message;  // what an operation on it reports
};
struct Str : Object {
  Text text;
  size_t length = 0;    // code points
  bool markup = false;  // made by |safe or |escape
};
struct Seq : Object {
  std::vector<Value> items;
  bool group = false;  // a tuple of groupby, with .grouper and .list
};
struct Dict : Object {
  std::vector<std::pair<Value, Value>> items;       // in order of insertion
  std::unordered_multimap<size_t, uint32_t> index;  // by hash, once there are many

  /// nullptr where absent. Raises for a key without a hash (a list).
  Value* find(const Value& key, Budget* budget = nullptr);
  Value* find(std::string_view key);
  void set(const Value& key, Value value, Budget* budget = nullptr);
};
struct Range : Object {
  int64_t start = 0, stop = 0, step = 1;
  int64_t size() const;
  int64_t at(int64_t i) const;
};
struct View : Object {
  enum Which { keys, values, items } which = keys;
  Dict* dict = nullptr;
};
/// A one-shot iterator (generator, map, reversed).
struct Iterator : Object {
  std::function<bool(Value&)> next;
};
struct Namespace : Object {
  Dict attributes;
};
struct Cycler : Object {
  std::vector<Value> items;
  size_t at = 0;
};
struct Joiner : Object {
  Value separator;
  bool used = false;
};

/// Owns every object of a render until it ends: values are plain pointers, cycles and depth cost nothing.
class Heap {
 public:
  /// Without a budget nothing is counted (constants and inputs, whose sizes are bounded elsewhere).
  explicit Heap(Budget* budget = nullptr) : budget_(budget) {}

  template <class T>
  T* make(size_t extra_bytes = 0) {
    if (budget_ != nullptr) budget_->allocate(sizeof(T) + extra_bytes + sizeof(void*));
    auto object = std::make_unique<T>();
    T* raw = object.get();
    objects_.push_back(std::move(object));
    return raw;
  }
  Value string(Text text, bool markup = false);
  Value string(std::string bytes) { return string(Text(std::move(bytes))); }
  Value sequence(Kind kind, std::vector<Value> items);
  Value list(std::vector<Value> items) { return sequence(Kind::list, std::move(items)); }
  Value tuple(std::vector<Value> items) { return sequence(Kind::tuple, std::move(items)); }
  Value dict(Dict*& out);
  Value undefined(std::string message);
  Value iterator(std::function<bool(Value&)> next);
  Budget* budget() const { return budget_; }

 private:
  Budget* budget_;
  std::vector<std::unique_ptr<Object>> objects_;
};

// What Python's operators and builtins do with values (compare.cc, repr.cc).
const char* type_name(const Value& v);
bool truth(const Value& v);
bool equal(const Value& a, const Value& b, Budget* budget);
/// a < b; raises for types without an order between them. `op` stands in the error.
bool less(const Value& a, const Value& b, Budget* budget, const char* op = "<");
size_t hash(const Value& v, Budget* budget);
std::string float_repr(double f);
/// str(v), with provenance.
Text to_text(const Value& v, Budget* budget);
/// repr(v), with provenance.
Text to_repr(const Value& v, Budget* budget);

}  // namespace mortise::jinja
