// The evaluator: runs a resolved template over a context.
// Thread rule: one render, one thread; the template is only read. Flow: engine.cc makes one for each render.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ast.h"
#include "value.h"

namespace mortise::jinja {

/// Variables of one frame at run time; macros keep the environments around them alive through the heap.
struct Env : Object {
  Env* parent = nullptr;
  std::vector<Value> slots;
};

/// Arguments of a call; for filters and tests pos[0] is the value before the bar.
struct CallArgs {
  std::vector<Value> pos;
  std::vector<std::pair<std::string, Value>> kw;
};

class Interp;

/// A builtin, bound to `self` where it is a method.
struct Function : Object {
  Value (*call)(Interp&, const Value& self, CallArgs&) = nullptr;
  Value self;
};

struct Macro : Object {
  const Stmt* definition = nullptr;
  Env* env = nullptr;  // where it was defined
};

/// Walks anything iterable, item by item.
class Cursor {
 public:
  Cursor() = default;
  /// Raises where `v` is not iterable.
  Cursor(Interp& interp, const Value& v);
  bool next(Value& out);

 private:
  Interp* interp_ = nullptr;
  Value over_;
  size_t at_ = 0;
};

/// The `loop` variable.
struct Loop : Object {
  Value iterable;
  Cursor cursor;
  const Stmt* stmt = nullptr;  // of a recursive loop, with the environment around it
  Env* env = nullptr;
  int64_t index0 = -1;
  int64_t depth0 = 0;
  int64_t length = -1;  // -1: not known yet
  Value before, current, after, changed;

  bool next(Value& out);
  const Value& peek();
  int64_t size(Interp& interp);
};

enum class Flow {
  next,
  stop,
  again
};  // what a statement asks of the loop around it: nothing, break, continue

using Context = std::unordered_map<std::string, Value>;

class Interp {
 public:
  Interp(const Template& t, const Context& context, Heap& heap)
      : template_(t), context_(context), heap_(heap) {}
  Text render();

  Heap& heap() { return heap_; }
  Budget& budget() { return *heap_.budget(); }
  int line() const { return line_; }

  Value eval(const Expr& e, Env& env);
  Value call(const Value& f, CallArgs& args);
  Value attribute(const Value& v, std::string_view name);
  Value item(const Value& v, const Value& key);
  Value slice(const Value& v, const Value& start, const Value& stop, const Value& step);
  Value arith(const std::string& op, const Value& a, const Value& b);
  bool contains(const Value& needle, const Value& hay);
  bool compare(const std::string& op, const Value& a, const Value& b);
  /// All items; raises where `v` is not iterable.
  std::vector<Value> items(const Value& v);
  /// len(v); raises where `v` has none.
  int64_t length(const Value& v);
  Value string(Text text, bool markup = false) { return heap_.string(std::move(text), markup); }
  Value string(std::string bytes) { return heap_.string(Text(std::move(bytes))); }
  Text text(const Value& v) { return to_text(v, &budget()); }
  Value filter(const std::string& name, CallArgs& args);
  Value test(const std::string& name, CallArgs& args);
  /// Runs a macro's, call block's or recursive loop's body.
  Value call_macro(const Macro& macro, CallArgs& args);
  Value call_loop(const Loop& loop, CallArgs& args);

 private:
  // expressions (eval_expr.cc)
  Value eval_name(const Expr& e, Env& env);
  Value eval_collection(const Expr& e, Env& env);
  Value eval_logic(const Expr& e, Env& env);
  Value eval_sign(const Expr& e, Env& env);
  Value eval_concat(const Expr& e, Env& env);
  Value eval_compare(const Expr& e, Env& env);
  Value eval_slice(const Expr& e, Env& env);
  Value eval_filter(const Expr& e, Env& env, const Value* piped);
  void eval_args(const Expr& e, Env& env, CallArgs& args);
  Value run_filters(const Expr& e, Env& env, Text text);

  // statements (eval_stmt.cc, eval_loop.cc, eval_macro.cc)
  Env* enter(const Frame& frame, Env* parent);
  void load_slots(const Frame& frame, Env& env);
  Flow run(const Body& body, Env& env, Text& out);
  Flow run_stmt(const Stmt& s, Env& env, Text& out);
  Flow run_if(const Stmt& s, Env& env, Text& out);
  Flow run_for(const Stmt& s, Env& env, const Value& iterable, int64_t depth0, Text& out);
  Flow run_with(const Stmt& s, Env& env, Text& out);
  Flow run_set_block(const Stmt& s, Env& env);
  Flow run_filter_block(const Stmt& s, Env& env, Text& out);
  void run_call_block(const Stmt& s, Env& env, Text& out);
  Value filtered(const Stmt& s, Env& env, const Value& iterable);
  void assign(const Expr& target, const Value& v, Env& env);
  void check_namespaces(const Expr& target, Env& env);
  void emit(Text& out, const Value& v);
  void account(const Text& out, size_t bytes);
  Value make_macro(const Stmt& s, Env& env);
  void bind_macro(const Macro& macro, CallArgs& args, Env& env);
  Value& slot(const Ref& ref, Env& env);

  const Template& template_;
  const Context& context_;
  Heap& heap_;
  int line_ = 0;
};

}  // namespace mortise::jinja
