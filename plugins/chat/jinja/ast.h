// The tree of a parsed template. Names carry their scope after resolve() (scope.h) ran.
// Thread rule: immutable once resolved; any number of renders may read it. Flow: parser -> scope ->
// evaluator.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "value.h"

namespace mortise::jinja {

/// Where a name lives: `hops` environments outwards, then a slot.
struct Ref {
  int hops = -1;
  int slot = -1;
};

/// What happens to a slot when its frame is entered.
struct Load {
  enum Action { parameter, resolve, alias, undefined } action = undefined;
  int slot = 0;
  std::string name;  // resolve: looked up in the context
  Ref from;          // alias: a slot of an enclosing frame, counted from the frame's parent
};

/// One set of variables (a loop body, a macro, the template itself).
struct Frame {
  int slots = 0;
  std::vector<Load> loads;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Expr {
  enum Kind {
    constant,   // value
    name,       // text, ref
    ns_target,  // text . attribute, ref: a target only
    tuple,
    list,
    dict,  // kids (dict: key, value, key, value ...)
    cond,  // kids: test, then, else or null
    both,
    either,
    negate_truth,
    negative,
    positive,   // and, or, not, -, +
    arith,      // op, two kids
    concat,     // kids
    compare,    // kids; ops between them
    attribute,  // kid, text
    item,       // two kids
    slice,      // kid, then start, stop, step or null
    call,       // kid = callee, args
    filter,     // kid or null (a filter block's text), text, args
    test        // kid, text, args
  };
  Kind kind = constant;
  int line = 1;
  int depth = 1;  // height of the tree
  std::string text;
  std::string attribute_name;
  Value value;
  Ref ref;
  std::vector<std::string> ops;
  std::vector<ExprPtr> kids;
  // call, filter, test
  std::vector<ExprPtr> args;
  std::vector<std::pair<std::string, ExprPtr>> kwargs;
  ExprPtr dyn_args, dyn_kwargs;
};

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

struct Stmt {
  enum Kind {
    data,          // text
    output,        // expr
    if_block,      // exprs: tests; bodies: one a test, then else
    for_block,     // target, expr = iterable, test, body, other
    set,           // target, expr
    set_block,     // target, expr = filter or null, body
    macro,         // name, params, defaults, body
    call_block,    // expr = the call, params, defaults, body
    filter_block,  // expr = filters, body
    with_block,    // targets, exprs, body
    generation,    // body, a macro called at once
    break_loop,
    continue_loop
  };
  Kind kind = data;
  int line = 1;
  std::string text;
  ExprPtr expr, target, test;
  std::vector<ExprPtr> exprs, targets;
  Body body, other;
  std::vector<Body> bodies;
  bool recursive = false;
  std::vector<ExprPtr> params, defaults;
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;
  // set by resolve(): the frame of body, of the filter test and of `other`
  Frame frame, test_frame, other_frame;
  Ref ref;             // macro: where its name is stored
  int loop_slot = -1;  // for_block: where `loop` lives, -1 where the body does not use it
  int caller_slot = -1, kwargs_slot = -1, varargs_slot = -1;
};

/// A parsed template: the tree and the constants that it points to.
struct Template {
  Heap constants;
  Body body;
  Frame frame;
};

/// Parses and resolves. Raises TemplateError with the line. `source` is valid UTF-8.
std::unique_ptr<Template> parse_template(const std::string& source);

}  // namespace mortise::jinja
