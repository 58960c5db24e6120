// Gives every name of a parsed template its place; see scope.h. A frame is analysed whole before the code
// inside it is resolved, so a name that is set later in a frame already belongs to it earlier on.
// Thread rule: one template, one thread. Flow: parser -> scope -> evaluator.
#include "scope.h"

#include <set>

#include "builtins.h"
#include "symbols.h"

namespace mortise::jinja {
namespace {

using Names = std::set<std::string>;

template <class F>
void each_kid(const Expr& e, F&& f) {
  for (const ExprPtr& kid : e.kids) {
    if (kid != nullptr) f(*kid);
  }
  for (const ExprPtr& kid : e.args) f(*kid);
  for (const auto& [name, kid] : e.kwargs) f(*kid);
  if (e.dyn_args != nullptr) f(*e.dyn_args);
  if (e.dyn_kwargs != nullptr) f(*e.dyn_kwargs);
}

void load_names(const Expr& e, Symbols& symbols) {
  if (e.kind == Expr::name || e.kind == Expr::ns_target) symbols.load(e.text);
  each_kid(e, [&symbols](const Expr& kid) { load_names(kid, symbols); });
}

void store_names(const Expr& target, Symbols& symbols, bool as_parameter) {
  if (target.kind == Expr::ns_target) return symbols.load(target.text);
  if (target.kind == Expr::name)
    return as_parameter ? void(symbols.declare(target.text)) : symbols.store(target.text);
  for (const ExprPtr& kid : target.kids) store_names(*kid, symbols, as_parameter);
}

void analyse(const Body& body, Symbols& symbols);

void analyse_if(const Stmt& s, Symbols& symbols) {
  const size_t tests = s.exprs.size();
  load_names(*s.exprs[0], symbols);
  Symbols first = symbols.branch(), rest = symbols.branch(), other = symbols.branch();
  analyse(s.bodies[0], first);
  for (size_t i = 1; i < tests; ++i) {
    load_names(*s.exprs[i], rest);
    Symbols branch = rest.branch();
    analyse(s.bodies[i], branch);
    rest.merge({branch});
  }
  if (s.bodies.size() > tests) analyse(s.bodies[tests], other);
  symbols.merge({first, rest, other});
}

// What a statement reads and sets in the frame that it stands in; inner frames are not entered.
void analyse(const Body& body, Symbols& symbols) {
  for (const StmtPtr& s : body) {
    switch (s->kind) {
      case Stmt::output:
      case Stmt::call_block:
      case Stmt::for_block:
      case Stmt::filter_block:
        load_names(*s->expr, symbols);
        break;
      case Stmt::if_block:
        analyse_if(*s, symbols);
        break;
      case Stmt::set:
        load_names(*s->expr, symbols), store_names(*s->target, symbols, false);
        break;
      case Stmt::set_block:
        store_names(*s->target, symbols, false);
        break;
      case Stmt::macro:
        symbols.store(s->text);
        break;
      case Stmt::with_block:
        for (const ExprPtr& e : s->exprs) load_names(*e, symbols);
        break;
      default:
        break;
    }
  }
}

// Which of `names` are read anywhere below before they are set there.
class Undeclared {
 public:
  explicit Undeclared(Names names) : names_(std::move(names)) {}
  const Names& found() const { return found_; }

  void body(const Body& b) {
    for (const StmtPtr& s : b) stmt(*s);
  }

 private:
  void target(const Expr& e) {
    if (e.kind == Expr::name) names_.erase(e.text);
    for (const ExprPtr& kid : e.kids) target(*kid);
  }
  void expr(const Expr& e) {
    if (e.kind == Expr::name && names_.count(e.text) != 0) found_.insert(e.text);
    each_kid(e, [this](const Expr& kid) { expr(kid); });
  }
  void stmt(const Stmt& s) {
    if (s.target != nullptr && s.kind != Stmt::macro) target(*s.target);
    for (const ExprPtr& e : s.targets) target(*e);
    for (const ExprPtr& e : s.params) target(*e);
    for (const ExprPtr& e : s.defaults) expr(*e);
    if (s.expr != nullptr) expr(*s.expr);
    if (s.test != nullptr) expr(*s.test);
    for (const ExprPtr& e : s.exprs) expr(*e);
    for (const Body& b : s.bodies) body(b);
    body(s.body);
    body(s.other);
  }
  Names names_;
  Names found_;
};

// Where code stands: what changes what is allowed there.
struct Place {
  bool soft = false;       // in an if: unknown filters are reported when they run
  bool breakable = false;  // break and continue reach a loop
  bool in_for = false;     // anywhere inside a loop: `loop` cannot be set
};

class Resolver {
 public:
  void body(Body& b, Symbols& symbols, Place place) {
    for (StmtPtr& s : b) stmt(*s, symbols, place);
  }

 private:
  void expr(Expr& e, Symbols& symbols, bool soft) {
    if (e.kind == Expr::name || e.kind == Expr::ns_target) {
      symbols.load(e.text);
      e.ref = symbols.find(e.text);
    }
    const bool known = e.kind == Expr::filter ? is_filter(e.text) : e.kind != Expr::test || is_test(e.text);
    if (!known && !soft) {
      raise_at(e.line,
               std::string("no ") + (e.kind == Expr::filter ? "filter" : "test") + " named '" + e.text + "'");
    }
    const bool inside = soft || e.kind == Expr::cond;
    each_kid(e, [&](const Expr& kid) { expr(const_cast<Expr&>(kid), symbols, inside); });
  }

  void target(Expr& e, Symbols& symbols, const Place& place) {
    if (e.kind == Expr::name && e.text == "loop" && place.in_for)
      raise_at(e.line, "'loop' cannot be assigned in a loop");
    if (e.kind != Expr::tuple) e.ref = symbols.find(e.text);
    for (ExprPtr& kid : e.kids) target(*kid, symbols, place);
  }

  void stmt(Stmt& s, Symbols& symbols, Place place) {
    switch (s.kind) {
      case Stmt::data:
        return;
      case Stmt::output:
        return expr(*s.expr, symbols, place.soft);
      case Stmt::if_block:
        return if_block(s, symbols, place);
      case Stmt::for_block:
        return for_block(s, symbols, place);
      case Stmt::set:
        return expr(*s.expr, symbols, place.soft), target(*s.target, symbols, place);
      case Stmt::set_block:
        return set_block(s, symbols, place);
      case Stmt::macro:
        macro_body(s, symbols, place), s.ref = symbols.find(s.text);
        return;
      case Stmt::call_block:
        return macro_body(s, symbols, place), expr(*s.expr, symbols, place.soft);
      case Stmt::generation:
        return macro_body(s, symbols, place);
      case Stmt::filter_block:
        return filter_block(s, symbols, place);
      case Stmt::with_block:
        return with_block(s, symbols, place);
      case Stmt::break_loop:
      case Stmt::continue_loop:
        if (!place.breakable) raise_at(s.line, "break and continue belong inside a loop");
    }
  }

  void if_block(Stmt& s, Symbols& symbols, Place place) {
    place.soft = true;
    for (ExprPtr& e : s.exprs) expr(*e, symbols, true);
    for (Body& b : s.bodies) body(b, symbols, place);
  }

  void for_block(Stmt& s, Symbols& symbols, Place place) {
    expr(*s.expr, symbols, place.soft);
    const Place inside{false, true, true};
    Symbols loop(&symbols), other(&symbols), test(&symbols);
    Undeclared undeclared({"loop"});
    undeclared.body(s.body);
    if (s.recursive || !undeclared.found().empty()) s.loop_slot = loop.declare("loop");
    store_names(*s.target, loop, true);
    analyse(s.body, loop);
    target(*s.target, loop, inside);
    if (s.test != nullptr) {
      // The filter test has a frame of its own, with the loop's targets at the same slots.
      if (s.loop_slot >= 0) test.reserve("loop");
      store_names(*s.target, test, true);
      load_names(*s.test, test);
      expr(*s.test, test, false);
      s.test_frame = test.frame();
    }
    body(s.body, loop, inside);
    s.frame = loop.frame();
    analyse(s.other, other);
    // After a recursive loop's body no loop is left to break out of.
    body(s.other, other, {false, place.breakable && !s.recursive, true});
    s.other_frame = other.frame();
  }

  void set_block(Stmt& s, Symbols& symbols, Place place) {
    Symbols inner(&symbols);
    analyse(s.body, inner);
    if (s.expr != nullptr) expr(*s.expr, inner, false);
    body(s.body, inner, {false, place.breakable, place.in_for});
    s.frame = inner.frame();
    target(*s.target, symbols, place);
  }

  void filter_block(Stmt& s, Symbols& symbols, Place place) {
    Symbols inner(&symbols);
    analyse(s.body, inner);
    load_names(*s.expr, inner);
    expr(*s.expr, inner, false);
    body(s.body, inner, {false, place.breakable, place.in_for});
    s.frame = inner.frame();
  }

  void with_block(Stmt& s, Symbols& symbols, Place place) {
    Symbols inner(&symbols);
    for (const ExprPtr& e : s.targets) store_names(*e, inner, true);
    analyse(s.body, inner);
    for (ExprPtr& e : s.exprs) expr(*e, symbols, place.soft);
    for (ExprPtr& e : s.targets) target(*e, inner, {});
    body(s.body, inner, {false, place.breakable, place.in_for});
    s.frame = inner.frame();
  }

  // Macro, call block and generation block: a function of its own.
  void macro_body(Stmt& s, Symbols& symbols, Place place) {
    Symbols inner(&symbols);
    Names special = {"caller", "kwargs", "varargs"};
    Undeclared undeclared(special);
    undeclared.body(s.body);
    for (const ExprPtr& p : s.params) {
      inner.declare(p->text);
      special.erase(p->text);
    }
    const auto uses = [&](const char* name) {
      return undeclared.found().count(name) != 0 && special.count(name) != 0;
    };
    explicit_caller(s, undeclared.found());
    s.uses_caller = uses("caller"), s.uses_kwargs = uses("kwargs"), s.uses_varargs = uses("varargs");
    if (s.uses_caller) s.caller_slot = inner.declare("caller");
    if (s.uses_kwargs) s.kwargs_slot = inner.declare("kwargs");
    if (s.uses_varargs) s.varargs_slot = inner.declare("varargs");
    for (const ExprPtr& d : s.defaults) load_names(*d, inner);
    analyse(s.body, inner);
    for (ExprPtr& d : s.defaults) expr(*d, inner, false);
    for (ExprPtr& p : s.params) p->ref = inner.find(p->text);
    body(s.body, inner, {false, false, place.in_for});
    s.frame = inner.frame();
  }

  static void explicit_caller(const Stmt& s, const Names& found) {
    const size_t without = s.params.size() - s.defaults.size();
    for (size_t i = 0; i < without; ++i) {
      if (s.params[i]->text == "caller" && found.count("caller") != 0) {
        raise_at(s.line, "a parameter named 'caller' needs a default");
      }
    }
  }
};

}  // namespace

void resolve(Template& t) {
  Symbols root(nullptr);
  analyse(t.body, root);
  Resolver().body(t.body, root, {});
  t.frame = root.frame();
}

}  // namespace mortise::jinja
