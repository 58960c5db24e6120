// The heap, and dictionaries that keep the order of insertion.
// Thread rule: one render. Flow: under the evaluator and the JSON reader.
#include "value.h"

#include <algorithm>

#include "unicode.h"

namespace mortise::jinja {
namespace {
constexpr size_t kIndexedFrom = 16;  // below, a linear search is faster than a table
}

const Text& Value::text() const { return as<Str>().text; }

Value* Dict::find(const Value& key, Budget* budget) {
  const size_t h = hash(key, budget);
  if (items.size() <= kIndexedFrom) {
    for (auto& [k, v] : items) {
      if (equal(k, key, budget)) return &v;
    }
    return nullptr;
  }
  const auto [first, last] = index.equal_range(h);
  for (auto at = first; at != last; ++at) {
    auto& [k, v] = items[at->second];
    if (equal(k, key, budget)) return &v;
  }
  return nullptr;
}

Value* Dict::find(std::string_view key) {
  const auto matches = [key](const Value& k) { return k.is_string() && k.bytes() == key; };
  if (items.size() <= kIndexedFrom) {
    for (auto& [k, v] : items) {
      if (matches(k)) return &v;
    }
    return nullptr;
  }
  const auto [first, last] = index.equal_range(std::hash<std::string_view>{}(key));
  for (auto at = first; at != last; ++at) {
    if (matches(items[at->second].first)) return &items[at->second].second;
  }
  return nullptr;
}

void Dict::set(const Value& key, Value value, Budget* budget) {
  if (Value* old = find(key, budget)) {
    *old = value;
    return;
  }
  if (budget != nullptr) budget->allocate(sizeof(items[0]) + (items.size() >= kIndexedFrom ? 32 : 0));
  items.emplace_back(key, value);
  if (items.size() == kIndexedFrom + 1) {
    for (size_t i = 0; i < items.size(); ++i) {
      index.emplace(hash(items[i].first, budget), static_cast<uint32_t>(i));
    }
  } else if (items.size() > kIndexedFrom) {
    index.emplace(hash(key, budget), static_cast<uint32_t>(items.size() - 1));
  }
}

int64_t Range::size() const {
  // Unsigned, because the distance of two int64 may need all 64 bits.
  const auto u = [](int64_t i) { return static_cast<uint64_t>(i); };
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const uint64_t steps =
      step > 0 ? (u(stop) - u(start) - 1) / u(step) : (u(start) - u(stop) - 1) / (0 - u(step));
  return steps >= INT64_MAX ? INT64_MAX : static_cast<int64_t>(steps) + 1;
}

int64_t Range::at(int64_t i) const {
  return static_cast<int64_t>(static_cast<uint64_t>(start) +
                              static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
}

Value Heap::string(Text text, bool markup) {
  Str* s = make<Str>(text.cost());
  s->length = count_code_points(text.bytes());
  s->text = std::move(text);
  s->markup = markup;
  return Value::of(Kind::string, s);
}

Value Heap::sequence(Kind kind, std::vector<Value> items) {
  Seq* seq = make<Seq>(items.size() * sizeof(Value));
  seq->items = std::move(items);
  return Value::of(kind, seq);
}

Value Heap::dict(Dict*& out) {
  out = make<Dict>();
  return Value::of(Kind::dict, out);
}

Value Heap::undefined(std::string message) {
  Undefined* u = make<Undefined>(message.size());
  u->message = std::move(message);
  return Value::of(Kind::undefined, u);
}

Value Heap::iterator(std::function<bool(Value&)> next) {
  Iterator* it = make<Iterator>(64);
  it->next = std::move(next);
  return Value::of(Kind::iterator, it);
}

}  // namespace mortise::jinja
