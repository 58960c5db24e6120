// for loops, the `loop` variable and iteration over anything iterable.
// Thread rule: one render. Flow: run by the statements; filters iterate through Cursor.
#include "interp.h"
#include "unicode.h"

namespace mortise::jinja {

Cursor::Cursor(Interp& interp, const Value& v) : interp_(&interp), over_(v) {
  switch (v.kind) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::range:
    case Kind::view:
    case Kind::iterator:
    case Kind::loop:
      return;
    default:
      raise(std::string("'") + type_name(v) + "' object is not iterable");
  }
}

bool Cursor::next(Value& out) {
  interp_->budget().spend();
  switch (over_.kind) {
    case Kind::string: {
      const Text& text = over_.text();
      if (at_ >= text.size()) return false;
      const size_t begin = at_;
      next_code_point(text.bytes(), at_);
      out = interp_->string(text.slice(begin, at_));
      return true;
    }
    case Kind::list:
    case Kind::tuple: {
      const std::vector<Value>& items = over_.as<Seq>().items;
      if (at_ >= items.size()) return false;
      out = items[at_++];
      return true;
    }
    case Kind::dict: {
      const Dict& dict = over_.as<Dict>();
      if (at_ >= dict.items.size()) return false;
      out = dict.items[at_++].first;
      return true;
    }
    case Kind::view: {
      const View& view = over_.as<View>();
      if (at_ >= view.dict->items.size()) return false;
      const auto& [key, value] = view.dict->items[at_++];
      out = view.which == View::keys     ? key
            : view.which == View::values ? value
                                         : interp_->heap().tuple({key, value});
      return true;
    }
    case Kind::range: {
      const Range& range = over_.as<Range>();
      if (static_cast<int64_t>(at_) >= range.size()) return false;
      out = Value::integer(range.at(static_cast<int64_t>(at_++)));
      return true;
    }
    case Kind::iterator: {
      const Level level(interp_->budget());
      return over_.as<Iterator>().next(out);
    }
    case Kind::loop: {
      Value v;
      if (!over_.as<Loop>().next(v)) return false;
      out = interp_->heap().tuple({v, over_});
      return true;
    }
    default:
      return false;
  }
}

bool Loop::next(Value& out) {
  if (!after.is_missing()) {
    out = after;
    after = Value();
  } else if (!cursor.next(out)) {
    return false;
  }
  ++index0;
  before = current;
  current = out;
  return true;
}

const Value& Loop::peek() {
  if (after.is_missing()) {
    Value v;
    if (cursor.next(v)) after = v;
  }
  return after;
}

int64_t Loop::size(Interp& interp) {
  if (length >= 0) return length;
  if (!iterable.is(Kind::iterator)) return length = interp.length(iterable);
  // A generator: read it to its end, then go on from what was read.
  std::vector<Value> rest;
  Value v;
  while (cursor.next(v)) rest.push_back(v);
  length = static_cast<int64_t>(rest.size()) + index0 + 1 + (after.is_missing() ? 0 : 1);
  cursor = Cursor(interp, interp.heap().list(std::move(rest)));
  return length;
}

// {% for x in xs if test %}: the items that pass, found one by one as the loop asks for them.
Value Interp::filtered(const Stmt& s, Env& env, const Value& iterable) {
  auto cursor = std::make_shared<Cursor>(*this, iterable);
  Env* inner = enter(s.test_frame, &env);
  return heap_.iterator([this, &s, cursor, inner](Value& out) {
    while (cursor->next(out)) {
      assign(*s.target, out, *inner);
      if (truth(eval(*s.test, *inner))) return true;
    }
    return false;
  });
}

Flow Interp::run_for(const Stmt& s, Env& env, const Value& iterable, int64_t depth0, Text& out) {
  const Value over = s.test != nullptr ? filtered(s, env, iterable) : iterable;
  Loop* loop = heap_.make<Loop>();
  loop->iterable = over;
  loop->cursor = Cursor(*this, over);
  loop->depth0 = depth0;
  if (s.recursive) loop->stmt = &s, loop->env = &env;
  Env* inner = nullptr;
  bool completed = false;  // an iteration that ran to its end keeps the else branch away
  Value v;
  while (loop->next(v)) {
    if (inner == nullptr) {
      inner = enter(s.frame, &env);
    } else {
      load_slots(s.frame, *inner);
    }
    if (s.loop_slot >= 0) inner->slots[static_cast<size_t>(s.loop_slot)] = Value::of(Kind::loop, loop);
    assign(*s.target, v, *inner);
    const Flow flow = run(s.body, *inner, out);
    if (flow == Flow::stop) break;
    if (flow == Flow::next) completed = true;
  }
  if (completed || s.other.empty()) return Flow::next;
  return run(s.other, *enter(s.other_frame, &env), out);
}

Value Interp::call_loop(const Loop& loop, CallArgs& args) {
  if (loop.stmt == nullptr) raise("the loop must have the 'recursive' marker to be called recursively");
  if (args.pos.size() != 1 || !args.kw.empty()) raise("loop() takes one argument, the inner iterable");
  const Level level(budget());
  Text out;
  run_for(*loop.stmt, *loop.env, args.pos[0], loop.depth0 + 1, out);
  return string(std::move(out));
}

std::vector<Value> Interp::items(const Value& v) {
  if (v.is_sequence()) {
    budget().spend(v.as<Seq>().items.size() / 8);
    return v.as<Seq>().items;
  }
  std::vector<Value> out;
  Cursor cursor(*this, v);
  for (Value item; cursor.next(item);) {
    budget().expect(out.size() + 1, sizeof(Value));
    out.push_back(item);
  }
  return out;
}

int64_t Interp::length(const Value& v) {
  switch (v.kind) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      return static_cast<int64_t>(v.as<Str>().length);
    case Kind::list:
    case Kind::tuple:
      return static_cast<int64_t>(v.as<Seq>().items.size());
    case Kind::dict:
      return static_cast<int64_t>(v.as<Dict>().items.size());
    case Kind::view:
      return static_cast<int64_t>(v.as<View>().dict->items.size());
    case Kind::range:
      return v.as<Range>().size();
    case Kind::loop:
      return v.as<Loop>().size(*this);
    default:
      raise(std::string("object of type '") + type_name(v) + "' has no len()");
  }
}

}  // namespace mortise::jinja
