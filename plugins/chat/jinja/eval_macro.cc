// Macros, call blocks and calls of any kind.
// Thread rule: one render. Flow: calls in expressions and {% call %} end here.
#include "builtins.h"
#include "interp.h"

namespace mortise::jinja {

Value Interp::make_macro(const Stmt& s, Env& env) {
  Macro* macro = heap_.make<Macro>();
  macro->definition = &s;
  macro->env = &env;
  return Value::of(Kind::macro, macro);
}

Value Interp::call(const Value& f, CallArgs& args) {
  budget().spend();
  switch (f.kind) {
    case Kind::undefined:
      raise(f.as<Undefined>().message);
    case Kind::function:
      return f.as<Function>().call(*this, f.as<Function>().self, args);
    case Kind::macro:
      return call_macro(f.as<Macro>(), args);
    case Kind::loop:
      return call_loop(f.as<Loop>(), args);
    case Kind::joiner: {
      Joiner& joiner = f.as<Joiner>();
      if (joiner.used) return joiner.separator;
      joiner.used = true;
      return string(std::string());
    }
    default:
      raise(std::string("'") + type_name(f) + "' object is not callable");
  }
}

// Binds arguments as the reference's Macro does: positional, then by name, then caller, kwargs and varargs.
void Interp::bind_macro(const Macro& macro, CallArgs& args, Env& env) {
  const Stmt& s = *macro.definition;
  const std::string who = "macro '" + s.text + "'";
  const size_t count = s.params.size();
  const auto take = [&args](const std::string& name) {
    for (size_t i = 0; i < args.kw.size(); ++i) {
      if (args.kw[i].first != name) continue;
      const Value v = args.kw[i].second;
      args.kw.erase(args.kw.begin() + static_cast<long>(i));
      return v;
    }
    return Value();
  };
  for (size_t i = 0; i < count; ++i) {
    slot(s.params[i]->ref, env) = i < args.pos.size() ? args.pos[i] : take(s.params[i]->text);
  }
  if (s.uses_caller) {
    const Value caller = take("caller");
    env.slots[static_cast<size_t>(s.caller_slot)] =
        caller.is_missing() || caller.is(Kind::none) ? heap_.undefined("No caller defined") : caller;
  }
  if (s.uses_kwargs) {
    Dict* kwargs = nullptr;
    env.slots[static_cast<size_t>(s.kwargs_slot)] = heap_.dict(kwargs);
    for (const auto& [name, v] : args.kw) kwargs->set(string(name), v, &budget());
  } else if (!args.kw.empty()) {
    raise(who + " takes no keyword argument '" + args.kw.front().first + "'");
  }
  const bool too_many = args.pos.size() > count;
  if (s.uses_varargs) {
    std::vector<Value> rest;
    if (too_many) rest.assign(args.pos.begin() + static_cast<long>(count), args.pos.end());
    env.slots[static_cast<size_t>(s.varargs_slot)] = heap_.tuple(std::move(rest));
  } else if (too_many) {
    raise(who + " takes not more than " + std::to_string(count) + " argument(s)");
  }
}

Value Interp::call_macro(const Macro& macro, CallArgs& args) {
  const Level level(budget());
  const Stmt& s = *macro.definition;
  Env* env = enter(s.frame, macro.env);
  bind_macro(macro, args, *env);
  const size_t without = s.params.size() - s.defaults.size();
  for (size_t i = 0; i < s.params.size(); ++i) {
    Value& v = slot(s.params[i]->ref, *env);
    if (!v.is_missing()) continue;
    if (i >= without) {
      const Value fallback = eval(*s.defaults[i - without], *env);
      slot(s.params[i]->ref, *env) = fallback;
    } else {
      v = heap_.undefined("parameter '" + s.params[i]->text + "' was not provided");
    }
  }
  Text out;
  run(s.body, *env, out);
  return string(std::move(out));
}

void Interp::run_call_block(const Stmt& s, Env& env, Text& out) {
  const Value caller = make_macro(s, env);
  CallArgs args;
  if (s.kind == Stmt::generation) {
    emit(out, call(caller, args));
    return;
  }
  const Value f = eval(*s.expr->kids[0], env);
  eval_args(*s.expr, env, args);
  for (const auto& [name, v] : args.kw) {
    if (name == "caller") raise("the call of a call block cannot be given a caller");
  }
  args.kw.emplace_back("caller", caller);
  emit(out, call(f, args));
}

}  // namespace mortise::jinja
