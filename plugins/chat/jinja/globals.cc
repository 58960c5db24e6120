// Global functions: range, dict, namespace, cycler, joiner, raise_exception, strftime_now.
// Thread rule: one render. Flow: add_globals() puts them into the context, below the caller's variables.
#include <ctime>
#include <iterator>

#include "builtins.h"

namespace mortise::jinja {
namespace {

Value range(Interp& interp, const Value&, CallArgs& args) {
  const std::vector<Value> a = bind("range", args, {"*start", "*stop", "*step"}, 1);
  Range* r = interp.heap().make<Range>();
  r->stop = need_int("range", a[0]);
  if (!a[1].is_missing()) r->start = r->stop, r->stop = need_int("range", a[1]);
  if (!a[2].is_missing()) r->step = need_int("range", a[2]);
  if (r->step == 0) raise("range() arg 3 must not be zero");
  if (r->size() > kMaxRange) {
    raise("range() gives more than " + std::to_string(kMaxRange) + " items; use a smaller range",
          Code::limit);
  }
  return Value::of(Kind::range, r);
}

// dict(mapping or pairs, name=value ...)
void fill(Interp& interp, CallArgs& args, Dict& dict) {
  if (args.pos.size() > 1) raise("dict expected at most 1 argument, got " + std::to_string(args.pos.size()));
  Budget* budget = &interp.budget();
  if (!args.pos.empty() && args.pos[0].is(Kind::dict)) {
    for (const auto& [key, v] : args.pos[0].as<Dict>().items) dict.set(key, v, budget);
  } else if (!args.pos.empty()) {
    for (const Value& pair : interp.items(args.pos[0])) {
      const std::vector<Value> both = interp.items(pair);
      if (both.size() != 2) raise("dictionary update sequence needs pairs");
      dict.set(both[0], both[1], budget);
    }
  }
  for (const auto& [name, v] : args.kw) dict.set(interp.string(name), v, budget);
}

Value make_dict(Interp& interp, const Value&, CallArgs& args) {
  Dict* dict = nullptr;
  const Value out = interp.heap().dict(dict);
  fill(interp, args, *dict);
  return out;
}

Value make_namespace(Interp& interp, const Value&, CallArgs& args) {
  Namespace* ns = interp.heap().make<Namespace>();
  fill(interp, args, ns->attributes);
  return Value::of(Kind::ns, ns);
}

Value make_cycler(Interp& interp, const Value&, CallArgs& args) {
  if (args.pos.empty() || !args.kw.empty()) raise("at least one item has to be provided");
  Cycler* c = interp.heap().make<Cycler>(args.pos.size() * sizeof(Value));
  c->items = args.pos;
  return Value::of(Kind::cycler, c);
}

Value make_joiner(Interp& interp, const Value&, CallArgs& args) {
  const std::vector<Value> a = bind("joiner", args, {"sep"}, 0);
  Joiner* j = interp.heap().make<Joiner>();
  j->separator = a[0].is_missing() ? interp.string(std::string(", ")) : a[0];
  return Value::of(Kind::joiner, j);
}

Value raise_exception(Interp& interp, const Value&, CallArgs& args) {
  const std::vector<Value> a = bind("raise_exception", args, {"message"}, 1);
  raise(interp.text(a[0]).bytes());
}

Value strftime_now(Interp& interp, const Value&, CallArgs& args) {
  const std::string format =
      need_string("strftime_now", bind("strftime_now", args, {"format"}, 1)[0]).bytes();
  if (format.size() > 256) raise("strftime_now(): the format is longer than 256 bytes", Code::limit);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char buffer[4096];
  const size_t size = std::strftime(buffer, sizeof(buffer), format.c_str(), &local);
  return interp.string(std::string(buffer, size));
}

constexpr MethodRow kGlobals[] = {{"range", range},
                                  {"dict", make_dict},
                                  {"namespace", make_namespace},
                                  {"cycler", make_cycler},
                                  {"joiner", make_joiner},
                                  {"raise_exception", raise_exception},
                                  {"strftime_now", strftime_now}};

}  // namespace

void add_globals(Heap& heap, Context& context) {
  for (const MethodRow& row : kGlobals) context.emplace(row.name, make_function(heap, row.call, Value()));
}

}  // namespace mortise::jinja
