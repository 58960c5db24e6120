// Filters on numbers, and default: abs, int, float, round, sum, default.
// Thread rule: one render. Flow: found by name through arguments.cc.
#include <cmath>
#include <iterator>

#include "builtins.h"
#include "numbers.h"

namespace mortise::jinja {
namespace {

void refuse_undefined(const Value& v) {
  if (v.is(Kind::undefined)) raise(v.as<Undefined>().message);
}

Value absolute(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("abs", args, {"*x"}, 1);
  if (a[0].is(Kind::floating)) return Value::floating(std::fabs(a[0].f));
  if (!a[0].is_int()) raise(std::string("bad operand type for abs(): '") + type_name(a[0]) + "'");
  return a[0].as_int() < 0 ? interp.arith("-", Value::integer(0), a[0]) : Value::integer(a[0].as_int());
}

Value truncated(double f, const Value& fallback) {
  if (!std::isfinite(f)) return fallback;
  if (std::fabs(f) >= 9.2e18) raise("integer overflow: integers beyond 64 bits are not supported");
  return Value::integer(static_cast<int64_t>(f));
}

Value to_int(Interp&, CallArgs& args) {
  const std::vector<Value> a = bind("int", args, {"value", "default", "base"}, 1);
  const Value fallback = a[1].is_missing() ? Value::integer(0) : a[1];
  const int64_t base = a[2].is_missing() ? 10 : need_int("int", a[2]);
  const Value& v = a[0];
  refuse_undefined(v);
  if (v.is_int()) return Value::integer(v.as_int());
  if (v.is(Kind::floating)) {
    if (std::isinf(v.f)) raise("cannot convert float infinity to integer");
    return truncated(v.f, fallback);
  }
  if (!v.is_string()) return fallback;
  int64_t parsed = 0;
  const Parsed ok = parse_int(v.bytes(), base, parsed);
  if (ok == Parsed::overflow) raise("integer overflow: integers beyond 64 bits are not supported");
  if (ok == Parsed::good) return Value::integer(parsed);
  double f = 0;
  return parse_float(v.bytes(), f) ? truncated(f, fallback) : fallback;
}

Value to_float(Interp&, CallArgs& args) {
  const std::vector<Value> a = bind("float", args, {"value", "default"}, 1);
  refuse_undefined(a[0]);
  if (a[0].is_number()) return Value::floating(a[0].as_double());
  double f = 0;
  if (a[0].is_string() && parse_float(a[0].bytes(), f)) return Value::floating(f);
  return a[1].is_missing() ? Value::floating(0) : a[1];
}

Value round(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("round", args, {"value", "precision", "method"}, 1);
  const std::string method = a[2].is_missing() ? "common" : a[2].is_string() ? a[2].bytes() : "";
  if (method != "common" && method != "ceil" && method != "floor")
    raise("method must be common, ceil or floor");
  refuse_undefined(a[0]);
  const Value& v = a[0];
  if (!v.is_number()) raise(std::string("type ") + type_name(v) + " doesn't define __round__ method");
  const bool no_precision = a[1].is(Kind::none) && method == "common";
  const int64_t precision = a[1].is_missing() || no_precision ? 0 : need_int("round", a[1]);
  if (method == "common") {
    if (no_precision && v.is(Kind::floating)) {
      if (!std::isfinite(v.f)) raise("cannot convert a float that is not finite to integer");
      return truncated(std::nearbyint(v.f), v);
    }
    return v.is_int() ? Value::integer(round_int(v.as_int(), precision))
                      : Value::floating(round_float(v.f, precision));
  }
  const Value factor = interp.arith("**", Value::integer(10), Value::integer(precision));
  const double scaled = interp.arith("*", v, factor).as_double();
  if (!std::isfinite(scaled)) raise("cannot round a float that is not finite");
  const Value whole = truncated(method == "ceil" ? std::ceil(scaled) : std::floor(scaled), v);
  return interp.arith("/", whole, factor);
}

Value sum(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("sum", args, {"iterable", "attribute", "start"}, 1);
  const bool by_attribute = !a[1].is_missing() && !a[1].is(Kind::none);
  const AttributePath path = attribute_path(interp, a[1], false);
  Value total = a[2].is_missing() ? Value::integer(0) : a[2];
  if (total.is_string()) raise("sum() can't sum strings [use ''.join(seq) instead]");
  Cursor cursor(interp, a[0]);
  for (Value v; cursor.next(v);) total = interp.arith("+", total, by_attribute ? path.get(interp, v) : v);
  return total;
}

Value fallback(Interp& interp, CallArgs& args) {
  const std::vector<Value> a = bind("default", args, {"value", "default_value", "boolean"}, 1);
  const bool absent = a[0].is(Kind::undefined) || (!a[2].is_missing() && truth(a[2]) && !truth(a[0]));
  if (!absent) return a[0];
  return a[1].is_missing() ? interp.string(Text()) : a[1];
}

constexpr BuiltinRow kFilters[] = {{"abs", absolute}, {"int", to_int}, {"float", to_float},
                                   {"round", round},  {"sum", sum},    {"default", fallback},
                                   {"d", fallback}};

}  // namespace

Table<BuiltinRow> number_filters() { return {kFilters, std::size(kFilters)}; }

}  // namespace mortise::jinja
