// The tests behind `is`.
// Thread rule: one render. Flow: found by name through arguments.cc.
#include <iterator>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

Value one(CallArgs& args, const char* who) { return bind(who, args, {"value"}, 1)[0]; }

template <Kind kind>
Value is_kind(Interp&, CallArgs& args) {
  return Value::boolean(one(args, "test").is(kind));
}
template <bool wanted>
Value is_exactly(Interp&, CallArgs& args) {
  const Value v = one(args, "test");
  return Value::boolean(v.is(Kind::boolean) && v.b == wanted);
}

Value defined(Interp&, CallArgs& args) { return Value::boolean(!one(args, "defined").is(Kind::undefined)); }
Value number(Interp&, CallArgs& args) { return Value::boolean(one(args, "number").is_number()); }
Value odd(Interp& interp, CallArgs& args) {
  return Value::boolean(
      interp.compare("==", interp.arith("%", one(args, "odd"), Value::integer(2)), Value::integer(1)));
}
Value even(Interp& interp, CallArgs& args) {
  return Value::boolean(
      interp.compare("==", interp.arith("%", one(args, "even"), Value::integer(2)), Value::integer(0)));
}
Value divisibleby(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("divisibleby", args, {"value", "num"}, 2);
  return Value::boolean(interp.compare("==", interp.arith("%", a[0], a[1]), Value::integer(0)));
}
Value sequence(Interp&, CallArgs& args) {
  const Value v = one(args, "sequence");
  return Value::boolean(v.is_string() || v.is_sequence() || v.is(Kind::dict) || v.is(Kind::range) ||
                        v.is(Kind::undefined));
}
Value iterable(Interp&, CallArgs& args) {
  const Value v = one(args, "iterable");
  return Value::boolean(v.is_string() || v.is_sequence() || v.is(Kind::dict) || v.is(Kind::range) ||
                        v.is(Kind::view) || v.is(Kind::iterator) || v.is(Kind::undefined) ||
                        v.is(Kind::loop));
}
Value callable(Interp&, CallArgs& args) {
  const Value v = bind("callable", args, {"*obj"}, 1)[0];
  return Value::boolean(v.is(Kind::function) || v.is(Kind::macro) || v.is(Kind::loop) || v.is(Kind::joiner) ||
                        v.is(Kind::undefined));
}
Value sameas(Interp&, CallArgs& args) {
  const std::vector<Value> a = bind("sameas", args, {"value", "other"}, 2);
  if (a[0].kind != a[1].kind) return Value::boolean(false);
  switch (a[0].kind) {
    case Kind::none:
      return Value::boolean(true);
    case Kind::boolean:
      return Value::boolean(a[0].b == a[1].b);
    case Kind::integer:
      return Value::boolean(a[0].i == a[1].i);
    case Kind::floating:
      return Value::boolean(a[0].f == a[1].f);
    case Kind::string:
      return Value::boolean(a[0].bytes() == a[1].bytes());
    default:
      return Value::boolean(a[0].o == a[1].o);
  }
}
Value escaped(Interp&, CallArgs& args) { return Value::boolean(is_markup(one(args, "escaped"))); }
Value lower(Interp& interp, CallArgs& args) {
  return Value::boolean(is_lower_text(interp.text(one(args, "lower")).bytes()));
}
Value upper(Interp& interp, CallArgs& args) {
  return Value::boolean(is_upper_text(interp.text(one(args, "upper")).bytes()));
}
Value contained(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("in", args, {"value", "seq"}, 2);
  return Value::boolean(interp.contains(a[0], a[1]));
}
Value filter_exists(Interp& interp, CallArgs& args) {
  const Value v = one(args, "filter");
  hash(v, &interp.budget());
  return Value::boolean(v.is_string() && is_filter(v.bytes()));
}
Value test_exists(Interp& interp, CallArgs& args) {
  const Value v = one(args, "test");
  hash(v, &interp.budget());
  return Value::boolean(v.is_string() && is_test(v.bytes()));
}

Value compared(Interp& interp, CallArgs& args, const char* op) {
  const std::vector<Value> a = bind(op, args, {"*a", "*b"}, 2);
  return Value::boolean(interp.compare(op, a[0], a[1]));
}
Value eq(Interp& i, CallArgs& a) { return compared(i, a, "=="); }
Value ne(Interp& i, CallArgs& a) { return compared(i, a, "!="); }
Value gt(Interp& i, CallArgs& a) { return compared(i, a, ">"); }
Value ge(Interp& i, CallArgs& a) { return compared(i, a, ">="); }
Value lt(Interp& i, CallArgs& a) { return compared(i, a, "<"); }
Value le(Interp& i, CallArgs& a) { return compared(i, a, "<="); }

constexpr BuiltinRow kTests[] = {{"defined", defined},
                                 {"undefined", is_kind<Kind::undefined>},
                                 {"none", is_kind<Kind::none>},
                                 {"boolean", is_kind<Kind::boolean>},
                                 {"false", is_exactly<false>},
                                 {"true", is_exactly<true>},
                                 {"integer", is_kind<Kind::integer>},
                                 {"float", is_kind<Kind::floating>},
                                 {"number", number},
                                 {"string", is_kind<Kind::string>},
                                 {"mapping", is_kind<Kind::dict>},
                                 {"sequence", sequence},
                                 {"iterable", iterable},
                                 {"callable", callable},
                                 {"odd", odd},
                                 {"even", even},
                                 {"divisibleby", divisibleby},
                                 {"lower", lower},
                                 {"upper", upper},
                                 {"sameas", sameas},
                                 {"escaped", escaped},
                                 {"in", contained},
                                 {"filter", filter_exists},
                                 {"test", test_exists},
                                 {"==", eq},
                                 {"eq", eq},
                                 {"equalto", eq},
                                 {"!=", ne},
                                 {"ne", ne},
                                 {">", gt},
                                 {"gt", gt},
                                 {"greaterthan", gt},
                                 {">=", ge},
                                 {"ge", ge},
                                 {"<", lt},
                                 {"lt", lt},
                                 {"lessthan", lt},
                                 {"<=", le},
                                 {"le", le}};

}  // namespace

Table<BuiltinRow> builtin_tests() { return {kTests, std::size(kTests)}; }

}  // namespace mortise::jinja
