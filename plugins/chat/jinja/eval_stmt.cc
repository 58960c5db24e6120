// Statements: output, assignment, if, with, filter and set blocks.
// Thread rule: one render. Flow: the template's body runs here, into one Text.
#include "builtins.h"
#include "interp.h"

namespace mortise::jinja {

Text Interp::render() {
  try {
    Text out;
    Env* env = enter(template_.frame, nullptr);
    run(template_.body, *env, out);
    return out;
  } catch (TemplateError& error) {
    if (error.line == 0) error.line = line_;
    throw;
  }
}

Env* Interp::enter(const Frame& frame, Env* parent) {
  Env* env = heap_.make<Env>(static_cast<size_t>(frame.slots) * sizeof(Value));
  env->parent = parent;
  env->slots.resize(static_cast<size_t>(frame.slots));
  load_slots(frame, *env);
  return env;
}

void Interp::load_slots(const Frame& frame, Env& env) {
  for (const Load& load : frame.loads) {
    Value& v = env.slots[static_cast<size_t>(load.slot)];
    if (load.action == Load::resolve) {
      const auto found = context_.find(load.name);
      v = found != context_.end() ? found->second : Value();
    } else if (load.action == Load::alias) {
      v = slot({load.from.hops, load.from.slot}, *env.parent);
    } else if (load.action == Load::undefined) {
      v = Value();
    }
  }
}

Flow Interp::run(const Body& body, Env& env, Text& out) {
  const Level level(budget());
  for (const StmtPtr& s : body) {
    const Flow flow = run_stmt(*s, env, out);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Flow Interp::run_stmt(const Stmt& s, Env& env, Text& out) {
  budget().spend();
  line_ = s.line;
  switch (s.kind) {
    case Stmt::data:
      out.append(s.text, false);
      account(out, s.text.size());
      return Flow::next;
    case Stmt::output:
      emit(out, eval(*s.expr, env));
      return Flow::next;
    case Stmt::if_block:
      return run_if(s, env, out);
    case Stmt::for_block:
      return run_for(s, env, eval(*s.expr, env), 0, out);
    case Stmt::set:
      check_namespaces(*s.target, env);
      assign(*s.target, eval(*s.expr, env), env);
      return Flow::next;
    case Stmt::set_block:
      return run_set_block(s, env);
    case Stmt::macro:
      slot(s.ref, env) = make_macro(s, env);
      return Flow::next;
    case Stmt::call_block:
    case Stmt::generation:
      run_call_block(s, env, out);
      return Flow::next;
    case Stmt::filter_block:
      return run_filter_block(s, env, out);
    case Stmt::with_block:
      return run_with(s, env, out);
    case Stmt::break_loop:
      return Flow::stop;
    case Stmt::continue_loop:
      return Flow::again;
  }
  return Flow::next;
}

void Interp::emit(Text& out, const Value& v) {
  const size_t before = out.size();
  if (v.is_string()) {
    out.append(v.text());
  } else {
    out.append(text(v));
  }
  account(out, out.size() - before);
}

// Output counts as memory too: nested macros hold many outputs at once.
void Interp::account(const Text& out, size_t bytes) {
  budget().allocate(bytes);
  if (out.size() > kMaxOutputBytes) {
    raise("the rendered text is longer than " + std::to_string(kMaxOutputBytes >> 20) + " MiB", Code::limit);
  }
}

Flow Interp::run_if(const Stmt& s, Env& env, Text& out) {
  for (size_t i = 0; i < s.exprs.size(); ++i) {
    if (truth(eval(*s.exprs[i], env))) return run(s.bodies[i], env, out);
  }
  return s.bodies.size() > s.exprs.size() ? run(s.bodies.back(), env, out) : Flow::next;
}

void Interp::check_namespaces(const Expr& target, Env& env) {
  if (target.kind == Expr::ns_target && !slot(target.ref, env).is(Kind::ns)) {
    raise("cannot assign attribute on non-namespace object");
  }
  for (const ExprPtr& kid : target.kids) check_namespaces(*kid, env);
}

void Interp::assign(const Expr& target, const Value& v, Env& env) {
  if (target.kind == Expr::name) {
    slot(target.ref, env) = v;
    return;
  }
  if (target.kind == Expr::ns_target) {
    const Value ns = slot(target.ref, env);
    if (!ns.is(Kind::ns)) raise("cannot assign attribute on non-namespace object");
    ns.as<Namespace>().attributes.set(string(target.attribute_name), v, &budget());
    return;
  }
  const std::vector<Value> values = items(v);
  if (values.size() != target.kids.size()) {
    raise((values.size() > target.kids.size() ? "too many values to unpack (expected "
                                              : "not enough values to unpack (expected ") +
          std::to_string(target.kids.size()) + ")");
  }
  for (size_t i = 0; i < values.size(); ++i) assign(*target.kids[i], values[i], env);
}

Flow Interp::run_with(const Stmt& s, Env& env, Text& out) {
  Env* inner = enter(s.frame, &env);
  for (size_t i = 0; i < s.targets.size(); ++i) assign(*s.targets[i], eval(*s.exprs[i], env), *inner);
  return run(s.body, *inner, out);
}

Flow Interp::run_set_block(const Stmt& s, Env& env) {
  Env* inner = enter(s.frame, &env);
  Text captured;
  const Flow flow = run(s.body, *inner, captured);
  if (flow != Flow::next) return flow;
  assign(*s.target,
         s.expr != nullptr ? run_filters(*s.expr, *inner, std::move(captured)) : string(std::move(captured)),
         env);
  return Flow::next;
}

Flow Interp::run_filter_block(const Stmt& s, Env& env, Text& out) {
  Env* inner = enter(s.frame, &env);
  Text captured;
  const Flow flow = run(s.body, *inner, captured);
  if (flow != Flow::next) return flow;
  emit(out, run_filters(*s.expr, *inner, std::move(captured)));
  return Flow::next;
}

}  // namespace mortise::jinja
