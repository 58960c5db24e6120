// Filters that apply filters or tests to each item: map, select, reject, selectattr, rejectattr.
// Thread rule: one render. Flow: found by name through arguments.cc. All are lazy: arguments are looked at
// when the first item is asked for, as in the reference.
#include <iterator>
#include <memory>

#include "builtins.h"

namespace mortise::jinja {
namespace {

using Step = std::function<bool(Value&)>;  // maps or tests one item

// An iterator over `over` whose per-item step is prepared at the first item.
Value lazily(Interp& interp, const Value& over, std::function<Step()> prepare) {
  struct State {
    Cursor cursor;
    Step step;
    bool started = false, done = false;
  };
  auto state = std::make_shared<State>();
  return interp.heap().iterator([&interp, over, prepare, state](Value& out) {
    if (!state->started) {
      state->started = true;
      if (!truth(over)) {
        state->done = true;
      } else {
        state->step = prepare();
        state->cursor = Cursor(interp, over);
      }
    }
    while (!state->done && state->cursor.next(out)) {
      if (state->step(out)) return true;
    }
    state->done = true;
    return false;
  });
}

Value pop_keyword(CallArgs& args, const std::string& name) {
  for (size_t i = 0; i < args.kw.size(); ++i) {
    if (args.kw[i].first != name) continue;
    const Value v = args.kw[i].second;
    args.kw.erase(args.kw.begin() + static_cast<long>(i));
    return v;
  }
  return Value();
}

const std::string& need_name(const char* what, const Value& v) {
  if (!v.is_string()) raise(std::string("the name of a ") + what + " must be a string, not " + type_name(v));
  return v.bytes();
}

Step prepare_map(Interp& interp, CallArgs args) {
  const Value attribute = args.pos.empty() ? pop_keyword(args, "attribute") : Value();
  if (!attribute.is_missing()) {
    const Value fallback = pop_keyword(args, "default");
    if (!args.kw.empty()) raise("unexpected keyword argument '" + args.kw.front().first + "'");
    AttributePath path = attribute_path(interp, attribute, false);
    if (!fallback.is(Kind::none)) path.fallback = fallback;
    return [&interp, path](Value& v) {
      v = path.get(interp, v);
      return true;
    };
  }
  if (args.pos.empty()) raise("map requires a filter argument");
  const std::string name = need_name("filter", args.pos[0]);
  return [&interp, name, args](Value& v) {
    CallArgs call = args;
    call.pos[0] = v;
    v = interp.filter(name, call);
    return true;
  };
}

Value map(Interp& interp, CallArgs& args) {
  if (args.pos.empty()) raise("map() lacks its value");
  CallArgs rest{{args.pos.begin() + 1, args.pos.end()}, args.kw};
  return lazily(interp, args.pos[0], [&interp, rest] { return prepare_map(interp, rest); });
}

Step prepare_select(Interp& interp, CallArgs args, bool by_attribute, bool wanted) {
  AttributePath path;
  if (by_attribute) {
    if (args.pos.empty()) raise("missing parameter for attribute name");
    path = attribute_path(interp, args.pos[0], false);
    args.pos.erase(args.pos.begin());
  }
  if (args.pos.empty()) {
    return [&interp, path, wanted](Value& v) { return truth(path.get(interp, v)) == wanted; };
  }
  const std::string name = need_name("test", args.pos[0]);
  return [&interp, path, name, args, wanted](Value& v) {
    CallArgs call = args;
    call.pos[0] = path.get(interp, v);
    return truth(interp.test(name, call)) == wanted;
  };
}

Value select_any(Interp& interp, CallArgs& args, bool by_attribute, bool wanted) {
  if (args.pos.empty()) raise("select() lacks its value");
  CallArgs rest{{args.pos.begin() + 1, args.pos.end()}, args.kw};
  return lazily(interp, args.pos[0], [&interp, rest, by_attribute, wanted] {
    return prepare_select(interp, rest, by_attribute, wanted);
  });
}
Value select(Interp& interp, CallArgs& args) { return select_any(interp, args, false, true); }
Value reject(Interp& interp, CallArgs& args) { return select_any(interp, args, false, false); }
Value selectattr(Interp& interp, CallArgs& args) { return select_any(interp, args, true, true); }
Value rejectattr(Interp& interp, CallArgs& args) { return select_any(interp, args, true, false); }

constexpr BuiltinRow kFilters[] = {{"map", map},
                                   {"select", select},
                                   {"reject", reject},
                                   {"selectattr", selectattr},
                                   {"rejectattr", rejectattr}};

}  // namespace

Table<BuiltinRow> mapping_filters() { return {kFilters, std::size(kFilters)}; }

}  // namespace mortise::jinja
