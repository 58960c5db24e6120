// Expressions: one function a kind of node.
// Thread rule: one render. Flow: called by the statements; calls operators, methods, filters and tests.
#include "builtins.h"
#include "interp.h"

namespace mortise::jinja {

Value& Interp::slot(const Ref& ref, Env& env) {
  Env* at = &env;
  for (int i = 0; i < ref.hops; ++i) at = at->parent;
  return at->slots[static_cast<size_t>(ref.slot)];
}

Value Interp::eval(const Expr& e, Env& env) {
  if (e.kind == Expr::constant) return e.value;
  budget().spend();
  line_ = e.line;
  if (e.kind == Expr::name) return eval_name(e, env);
  const Level level(budget());
  switch (e.kind) {
    case Expr::tuple:
    case Expr::list:
    case Expr::dict:
      return eval_collection(e, env);
    case Expr::cond:
    case Expr::both:
    case Expr::either:
      return eval_logic(e, env);
    case Expr::negate_truth:
      return Value::boolean(!truth(eval(*e.kids[0], env)));
    case Expr::negative:
    case Expr::positive:
      return eval_sign(e, env);
    case Expr::arith: {
      const Value a = eval(*e.kids[0], env);
      const Value b = eval(*e.kids[1], env);
      line_ = e.line;
      return arith(e.text, a, b);
    }
    case Expr::concat:
      return eval_concat(e, env);
    case Expr::compare:
      return eval_compare(e, env);
    case Expr::attribute: {
      const Value v = eval(*e.kids[0], env);
      line_ = e.line;
      return attribute(v, e.text);
    }
    case Expr::item: {
      const Value v = eval(*e.kids[0], env);
      return item(v, eval(*e.kids[1], env));
    }
    case Expr::slice:
      return eval_slice(e, env);
    case Expr::call: {
      const Value f = eval(*e.kids[0], env);
      CallArgs args;
      eval_args(e, env, args);
      line_ = e.line;
      return call(f, args);
    }
    case Expr::filter:
    case Expr::test:
      return eval_filter(e, env, nullptr);
    default:
      raise("this expression cannot be evaluated", Code::internal);
  }
}

Value Interp::eval_name(const Expr& e, Env& env) {
  const Value v = slot(e.ref, env);
  return v.is_missing() ? heap_.undefined("'" + e.text + "' is undefined") : v;
}

Value Interp::eval_collection(const Expr& e, Env& env) {
  if (e.kind == Expr::dict) {
    Dict* dict = nullptr;
    const Value out = heap_.dict(dict);
    for (size_t i = 0; i + 1 < e.kids.size(); i += 2) {
      const Value key = eval(*e.kids[i], env);
      dict->set(key, eval(*e.kids[i + 1], env), &budget());
    }
    return out;
  }
  std::vector<Value> items;
  items.reserve(e.kids.size());
  for (const ExprPtr& kid : e.kids) items.push_back(eval(*kid, env));
  return heap_.sequence(e.kind == Expr::list ? Kind::list : Kind::tuple, std::move(items));
}

Value Interp::eval_logic(const Expr& e, Env& env) {
  const Value first = eval(*e.kids[0], env);
  if (e.kind == Expr::both) return truth(first) ? eval(*e.kids[1], env) : first;
  if (e.kind == Expr::either) return truth(first) ? first : eval(*e.kids[1], env);
  if (truth(first)) return eval(*e.kids[1], env);
  if (e.kids[2] != nullptr) return eval(*e.kids[2], env);
  return heap_.undefined("the inline if-expression on line " + std::to_string(e.line) +
                         " evaluated to false and no else section was defined.");
}

Value Interp::eval_sign(const Expr& e, Env& env) {
  const Value v = eval(*e.kids[0], env);
  if (v.is(Kind::undefined)) raise(v.as<Undefined>().message);
  if (!v.is_number()) raise(std::string("bad operand type for a sign: '") + type_name(v) + "'");
  if (v.is(Kind::floating)) return Value::floating(e.kind == Expr::negative ? -v.f : v.f);
  return e.kind == Expr::negative ? arith("-", Value::integer(0), v) : Value::integer(v.as_int());
}

Value Interp::eval_concat(const Expr& e, Env& env) {
  Text out;
  for (const ExprPtr& kid : e.kids) {
    const Value v = eval(*kid, env);
    if (v.is_string()) {
      budget().expect(out.size() + v.text().size(), 1);
      out.append(v.text());
    } else {
      out.append(text(v));
    }
  }
  return string(std::move(out));
}

Value Interp::eval_compare(const Expr& e, Env& env) {
  Value left = eval(*e.kids[0], env);
  for (size_t i = 0; i < e.ops.size(); ++i) {
    const Value right = eval(*e.kids[i + 1], env);
    line_ = e.line;
    if (!compare(e.ops[i], left, right)) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

Value Interp::eval_slice(const Expr& e, Env& env) {
  const auto part = [&](size_t i) { return e.kids[i] != nullptr ? eval(*e.kids[i], env) : Value::none(); };
  const Value v = part(0), start = part(1), stop = part(2), step = part(3);
  return slice(v, start, stop, step);
}

void Interp::eval_args(const Expr& e, Env& env, CallArgs& args) {
  for (const ExprPtr& arg : e.args) args.pos.push_back(eval(*arg, env));
  if (e.dyn_args != nullptr) {
    for (const Value& v : items(eval(*e.dyn_args, env))) args.pos.push_back(v);
  }
  for (const auto& [name, arg] : e.kwargs) args.kw.emplace_back(name, eval(*arg, env));
  if (e.dyn_kwargs == nullptr) return;
  const Value more = eval(*e.dyn_kwargs, env);
  if (!more.is(Kind::dict)) raise(std::string("argument after ** must be a mapping, not ") + type_name(more));
  for (const auto& [key, v] : more.as<Dict>().items) {
    if (!key.is_string()) raise("keywords must be strings");
    for (const auto& [name, seen] : args.kw) {
      if (name == key.bytes()) raise("got multiple values for keyword argument '" + name + "'");
    }
    args.kw.emplace_back(key.bytes(), v);
  }
}

// `piped` replaces the value of the innermost filter of a filter block.
Value Interp::eval_filter(const Expr& e, Env& env, const Value* piped) {
  CallArgs args;
  if (e.kids[0] == nullptr) {
    args.pos.push_back(*piped);
  } else if (piped != nullptr) {
    args.pos.push_back(eval_filter(*e.kids[0], env, piped));
  } else {
    args.pos.push_back(eval(*e.kids[0], env));
  }
  eval_args(e, env, args);
  line_ = e.line;
  return e.kind == Expr::filter ? filter(e.text, args) : test(e.text, args);
}

Value Interp::run_filters(const Expr& e, Env& env, Text text) {
  const Value piped = string(std::move(text));
  return eval_filter(e, env, &piped);
}

}  // namespace mortise::jinja
