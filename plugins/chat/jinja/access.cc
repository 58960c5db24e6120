// a.b, a[b] and a[b:c:d]: attributes, items and slices, with the fallbacks of the reference's sandbox.
// Thread rule: one render. Flow: called by expressions and by filters with attribute=.
#include <algorithm>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {
namespace {

std::string no_attribute(const Value& v, const std::string& name) {
  const std::string owner = v.is(Kind::none) ? "None" : std::string(type_name(v)) + " object";
  return "'" + owner + "' has no attribute '" + name + "'";
}

Value loop_attribute(Interp& interp, Loop& loop, std::string_view name) {
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") return Value::boolean(loop.peek().is_missing());
  if (name == "length") return Value::integer(loop.size(interp));
  if (name == "revindex") return Value::integer(loop.size(interp) - loop.index0);
  if (name == "revindex0") return Value::integer(loop.size(interp) - loop.index0 - 1);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "previtem")
    return loop.index0 > 0 ? loop.before : interp.heap().undefined("there is no previous item");
  if (name == "nextitem") {
    const Value next = loop.peek();
    return next.is_missing() ? interp.heap().undefined("there is no next item") : next;
  }
  return Value();
}

Value macro_attribute(Interp& interp, const Macro& macro, std::string_view name) {
  const Stmt& s = *macro.definition;
  if (name == "name") return s.kind == Stmt::macro ? interp.string(s.text) : Value::none();
  if (name == "caller") return Value::boolean(s.uses_caller);
  if (name == "catch_kwargs") return Value::boolean(s.uses_kwargs);
  if (name == "catch_varargs") return Value::boolean(s.uses_varargs);
  if (name != "arguments") return Value();
  std::vector<Value> names;
  for (const ExprPtr& p : s.params) names.push_back(interp.string(p->text));
  return interp.heap().tuple(std::move(names));
}

// What getattr() finds, missing otherwise.
Value own_attribute(Interp& interp, const Value& v, std::string_view name) {
  switch (v.kind) {
    case Kind::undefined:
      raise(v.as<Undefined>().message);
    case Kind::ns: {
      const Value* found = v.as<Namespace>().attributes.find(name);
      return found != nullptr ? *found : Value();
    }
    case Kind::loop: {
      const Value found = loop_attribute(interp, v.as<Loop>(), name);
      return found.is_missing() ? builtin_attribute(interp, v, name) : found;
    }
    case Kind::macro:
      return macro_attribute(interp, v.as<Macro>(), name);
    default:
      return builtin_attribute(interp, v, name);
  }
}

// What v[key] finds, missing where Python raises a TypeError or LookupError.
Value own_item(Interp& interp, const Value& v, const Value& key) {
  if (v.is(Kind::undefined)) raise(v.as<Undefined>().message);
  if (v.is(Kind::dict)) {
    if (key.is(Kind::list) || key.is(Kind::dict)) return Value();
    const Value* found = v.as<Dict>().find(key, &interp.budget());
    return found != nullptr ? *found : Value();
  }
  if (!key.is_int() || !(v.is_string() || v.is_sequence() || v.is(Kind::range))) return Value();
  const int64_t size = interp.length(v);
  int64_t i = key.as_int();
  if (i < 0) i += size;
  if (i < 0 || i >= size) return Value();
  if (v.is_sequence()) return v.as<Seq>().items[static_cast<size_t>(i)];
  if (v.is(Kind::range)) return Value::integer(v.as<Range>().at(i));
  const std::string& bytes = v.bytes();
  interp.budget().spend(bytes.size() == static_cast<size_t>(size) ? 0 : bytes.size() / 64);
  const size_t begin = byte_offset(bytes, static_cast<size_t>(i), static_cast<size_t>(size));
  size_t end = begin;
  next_code_point(bytes, end);
  return interp.string(v.text().slice(begin, end), v.as<Str>().markup);
}

// Python's slice.indices(), and how many items that are.
struct Slice {
  int64_t start, stop, step, count;
  int64_t said_step;  // before it is cut to what the size allows, which a range shows
};
Slice slice_indices(const Value& start, const Value& stop, const Value& step, int64_t size) {
  for (const Value* v : {&start, &stop, &step}) {
    if (!v->is_int() && !v->is(Kind::none)) raise("slice indices must be integers or None");
  }
  Slice s{0, 0, step.is(Kind::none) ? 1 : step.as_int(), 0, 0};
  s.said_step = s.step;
  if (s.step == 0) raise("slice step cannot be zero");
  const bool back = s.step < 0;
  const auto bound = [size, back](const Value& v, int64_t fallback) {
    if (v.is(Kind::none)) return fallback;
    const int64_t i = v.as_int() < 0 ? v.as_int() + size : v.as_int();
    return std::clamp<int64_t>(i, back ? -1 : 0, back ? size - 1 : size);
  };
  s.start = bound(start, back ? size - 1 : 0);
  s.stop = bound(stop, back ? -1 : size);
  s.step = std::clamp<int64_t>(s.step, -size - 1, size + 1);
  if (back && s.stop < s.start) s.count = (s.start - s.stop - 1) / -s.step + 1;
  if (!back && s.start < s.stop) s.count = (s.stop - s.start - 1) / s.step + 1;
  return s;
}

Text slice_text(const Value& v, const Slice& s) {
  const Text& text = v.text();
  const size_t points = v.as<Str>().length;
  const bool ascii = points == text.size();
  if (s.step == 1) {
    const size_t begin = byte_offset(text.bytes(), static_cast<size_t>(s.start), points);
    const size_t end = byte_offset(text.bytes(), static_cast<size_t>(s.start + s.count), points);
    return text.slice(begin, s.count == 0 ? begin : end);
  }
  std::vector<size_t> offsets;  // of each code point, where they differ from its index
  for (size_t at = 0; !ascii && at < text.size();) {
    offsets.push_back(at);
    next_code_point(text.bytes(), at);
  }
  Text out;
  for (int64_t i = 0; i < s.count; ++i) {
    const auto index = static_cast<size_t>(s.start + i * s.step);
    const size_t begin = ascii ? index : offsets[index];
    const size_t end = ascii ? index + 1 : index + 1 < offsets.size() ? offsets[index + 1] : text.size();
    out.append(text, begin, end);
  }
  return out;
}

}  // namespace

Value Interp::attribute(const Value& v, std::string_view name) {
  const Value found = own_attribute(*this, v, name);
  if (!found.is_missing()) return found;
  if (v.is(Kind::dict)) {
    const Value* entry = v.as<Dict>().find(name);
    if (entry != nullptr) return *entry;
  }
  return heap_.undefined(no_attribute(v, std::string(name)));
}

Value Interp::item(const Value& v, const Value& key) {
  Value found = own_item(*this, v, key);
  if (found.is_missing() && key.is_string()) found = own_attribute(*this, v, key.bytes());
  if (!found.is_missing()) return found;
  if (key.is_string()) return heap_.undefined(no_attribute(v, key.bytes()));
  return heap_.undefined(std::string(type_name(v)) + " object has no element " +
                         to_repr(key, &budget()).bytes());
}

Value Interp::slice(const Value& v, const Value& start, const Value& stop, const Value& step) {
  if (v.is(Kind::undefined)) raise(v.as<Undefined>().message);
  if (!v.is_string() && !v.is_sequence() && !v.is(Kind::range)) {
    raise(std::string("'") + type_name(v) + "' object is not subscriptable by a slice");
  }
  const Slice s = slice_indices(start, stop, step, length(v));
  budget().spend(1 + static_cast<uint64_t>(s.count) / 8);
  if (v.is_string()) return string(slice_text(v, s), v.as<Str>().markup);
  if (v.is(Kind::range)) {
    const Range& r = v.as<Range>();
    Range* out = heap_.make<Range>();
    out->start = r.at(s.start);
    out->stop = r.at(s.stop);
    out->step = static_cast<int64_t>(static_cast<uint64_t>(r.step) * static_cast<uint64_t>(s.said_step));
    return Value::of(Kind::range, out);
  }
  std::vector<Value> out;
  out.reserve(static_cast<size_t>(s.count));
  for (int64_t i = 0; i < s.count; ++i)
    out.push_back(v.as<Seq>().items[static_cast<size_t>(s.start + i * s.step)]);
  return heap_.sequence(v.kind, std::move(out));
}

}  // namespace mortise::jinja
