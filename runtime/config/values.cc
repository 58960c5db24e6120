// Checked values and the C array over them; see values.h. Thread rule: plain values. Flow: before create().
#include "config/values.h"

#include <mortise/cpp/result.h>

#include <utility>

namespace mortise {

Values::Values(std::vector<Value> values) : values_(std::move(values)) {
  array_.reserve(values_.size());
  for (const Value& value : values_) array_.push_back(view_of(value));
}

Values& Values::operator=(const Values& other) {
  if (this != &other) *this = Values(other.values_);
  return *this;
}

// Pointers go to strings inside values_ and to the heap blocks of inner vectors: neither moves when items_
// grows.
mortise_value Values::view_of(const Value& value) {
  mortise_value out{};
  out.type = value.type;
  out.is_set = value.is_set ? 1 : 0;
  out.i = value.i;
  out.f = value.f;
  out.s = str(value.s);
  out.count = value.items.size();
  if (!value.items.empty()) {
    std::vector<mortise_value> items;
    for (const Value& item : value.items) items.push_back(view_of(item));
    items_.push_back(std::move(items));
    out.items = items_.back().data();
  }
  if (!value.keys.empty()) {
    std::vector<mortise_str> keys;
    for (const std::string& key : value.keys) keys.push_back(str(key));
    keys_.push_back(std::move(keys));
    out.keys = keys_.back().data();
  }
  return out;
}

}  // namespace mortise
