// Arithmetic and comparison operators, as Python defines them for the builtin types.
// Thread rule: one render. Flow: called for operators in expressions and by sum.
#include <cmath>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

[[noreturn]] void overflow() { raise("integer overflow: integers beyond 64 bits are not supported"); }

int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t int_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) overflow();
  }
  return result;
}

Value int_arith(const std::string& op, int64_t a, int64_t b) {
  int64_t out = 0;
  if (op == "+") {
    if (__builtin_add_overflow(a, b, &out)) overflow();
  } else if (op == "-") {
    if (__builtin_sub_overflow(a, b, &out)) overflow();
  } else if (op == "*") {
    if (__builtin_mul_overflow(a, b, &out)) overflow();
  } else if (op == "**") {
    if (b < 0) {
      if (a == 0) raise("0.0 cannot be raised to a negative power");
      return Value::floating(std::pow(static_cast<double>(a), static_cast<double>(b)));
    }
    out = int_power(a, b);
  } else {
    if (b == 0) raise(op == "/" ? "division by zero" : "integer division or modulo by zero");
    if (op == "/") return Value::floating(static_cast<double>(a) / static_cast<double>(b));
    if (b == -1) return op == "%" ? Value::integer(0) : int_arith("-", 0, a);
    out = op == "%" ? a - floor_div(a, b) * b : floor_div(a, b);
  }
  return Value::integer(out);
}

// Quotient and remainder round towards minus infinity, the remainder with the divisor's sign.
Value float_divmod(const std::string& op, double a, double b) {
  double mod = std::fmod(a, b);
  double div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) mod += b, div -= 1;
  } else {
    mod = std::copysign(0.0, b);
  }
  if (op == "%") return Value::floating(mod);
  if (div == 0) return Value::floating(std::copysign(0.0, a / b));
  double whole = std::floor(div);
  if (div - whole > 0.5) whole += 1;
  return Value::floating(whole);
}

Value float_arith(const std::string& op, double a, double b) {
  if (op == "+") return Value::floating(a + b);
  if (op == "-") return Value::floating(a - b);
  if (op == "*") return Value::floating(a * b);
  if (op == "**") {
    if (a == 0 && b < 0) raise("0.0 cannot be raised to a negative power");
    if (a < 0 && std::isfinite(a) && std::isfinite(b) && std::trunc(b) != b)
      raise("complex numbers are not supported");
    const double power = std::pow(a, b);
    if (std::isinf(power) && std::isfinite(a) && std::isfinite(b)) raise("the result of ** is too large");
    return Value::floating(power);
  }
  if (b == 0) raise("float division by zero");
  if (op == "/") return Value::floating(a / b);
  return float_divmod(op, a, b);
}

Text repeated(const Text& text, int64_t times, Budget& budget) {
  Text out;
  if (times <= 0 || text.empty()) return out;
  budget.expect(static_cast<uint64_t>(times), text.cost());
  for (int64_t i = 0; i < times; ++i) out.append(text);
  return out;
}

Value repeat(Interp& interp, const Value& seq, int64_t times) {
  if (seq.is_string())
    return interp.string(repeated(seq.text(), times, interp.budget()), seq.as<Str>().markup);
  const std::vector<Value>& items = seq.as<Seq>().items;
  std::vector<Value> out;
  if (times > 0 && !items.empty()) {
    interp.budget().expect(static_cast<uint64_t>(times), items.size() * sizeof(Value));
    for (int64_t i = 0; i < times; ++i) out.insert(out.end(), items.begin(), items.end());
  }
  return interp.heap().sequence(seq.kind, std::move(out));
}

Value add_strings(Interp& interp, const Value& a, const Value& b) {
  const bool markup = a.as<Str>().markup || b.as<Str>().markup;
  const auto part = [markup](const Value& v) {
    return markup && !v.as<Str>().markup ? escape_html(v.text()) : v.text();
  };
  interp.budget().expect(a.text().size() + b.text().size(), 1);
  Text out = part(a);
  out.append(part(b));
  return interp.string(std::move(out), markup);
}

bool is_repeatable(const Value& v) { return v.is_string() || v.is_sequence(); }

}  // namespace

Value Interp::arith(const std::string& op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_int() && b.is_int()) return int_arith(op, a.as_int(), b.as_int());
    return float_arith(op, a.as_double(), b.as_double());
  }
  if (op == "%" && a.is_string()) return string(format_percent(*this, a.text(), b), a.as<Str>().markup);
  for (const Value* v : {&a, &b}) {
    if (v->is(Kind::undefined)) raise(v->as<Undefined>().message);
  }
  if (op == "+" && a.kind == b.kind) {
    if (a.is_string()) return add_strings(*this, a, b);
    if (a.is_sequence()) {
      std::vector<Value> out = a.as<Seq>().items;
      const std::vector<Value>& more = b.as<Seq>().items;
      budget().expect(out.size() + more.size(), sizeof(Value));
      out.insert(out.end(), more.begin(), more.end());
      return heap_.sequence(a.kind, std::move(out));
    }
  }
  if (op == "*" && is_repeatable(a) && b.is_int()) return repeat(*this, a, b.as_int());
  if (op == "*" && a.is_int() && is_repeatable(b)) return repeat(*this, b, a.as_int());
  raise("unsupported operand type(s) for " + op + ": '" + type_name(a) + "' and '" + type_name(b) + "'");
}

bool Interp::contains(const Value& needle, const Value& hay) {
  if (hay.is_string()) {
    if (!needle.is_string())
      raise(std::string("'in <string>' requires string as left operand, not ") + type_name(needle));
    budget().spend(1 + hay.text().size() / 64);
    return find_bytes(hay.bytes(), needle.bytes()) != std::string::npos;
  }
  if (hay.is(Kind::dict)) return hay.as<Dict>().find(needle, &budget()) != nullptr;
  if (hay.is(Kind::view) && hay.as<View>().which == View::keys) {
    return hay.as<View>().dict->find(needle, &budget()) != nullptr;
  }
  switch (hay.kind) {
    case Kind::undefined:
    case Kind::list:
    case Kind::tuple:
    case Kind::range:
    case Kind::view:
    case Kind::iterator:
    case Kind::loop:
      break;
    default:
      raise(std::string("argument of type '") + type_name(hay) + "' is not iterable");
  }
  Cursor cursor(*this, hay);
  for (Value v; cursor.next(v);) {
    if (equal(v, needle, &budget())) return true;
  }
  return false;
}

bool Interp::compare(const std::string& op, const Value& a, const Value& b) {
  if (op == "==") return equal(a, b, &budget());
  if (op == "!=") return !equal(a, b, &budget());
  if (op == "in") return contains(a, b);
  if (op == "not in") return !contains(a, b);
  if (op == "<") return less(a, b, &budget(), "<");
  if (op == ">") return less(b, a, &budget(), ">");
  // <= and >= are not the negation of > and < where one side is not a number.
  if (a.is_number() && b.is_number() && (std::isnan(a.as_double()) || std::isnan(b.as_double())))
    return false;
  return op == "<=" ? !less(b, a, &budget(), "<=") : !less(a, b, &budget(), ">=");
}

}  // namespace mortise::jinja
