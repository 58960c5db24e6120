// Checked values of parameters, and the array of them that a plugin gets.
// Thread rule: plain values; share a Values between threads once it is built. Flow: declaration + Raw ->
// Value -> Values -> create() or a request.
#pragma once
#include <mortise/base.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mortise {

/// One checked value; the fields as in mortise_value.
struct Value {
  uint32_t type = MORTISE_BOOL;
  bool is_set = false;  // false: absent and without default
  int64_t i = 0;
  double f = 0;
  std::string s;
  std::vector<Value> items;
  std::vector<std::string> keys;  // MAP: of items
  std::string where;              // origin, as Error::where wants it; empty for a default
};

/// Values that somebody gave, by parameter name.
using Given = std::map<std::string, Value>;

/// Values in declared order with the C array over them. Moving and copying keep the array right.
class Values {
 public:
  Values() = default;
  explicit Values(std::vector<Value> values);
  Values(const Values& other) : Values(other.values_) {}
  Values(Values&&) noexcept = default;
  Values& operator=(const Values& other);
  Values& operator=(Values&&) noexcept = default;

  /// What create() takes: `count()` values, alive as long as this object (moving it does not move them).
  const mortise_value* data() const { return array_.data(); }
  size_t count() const { return values_.size(); }
  const Value& operator[](size_t index) const { return values_[index]; }
  const std::vector<Value>& list() const { return values_; }

 private:
  mortise_value view_of(const Value& value);

  std::vector<Value> values_;
  std::vector<mortise_value> array_;
  std::vector<std::vector<mortise_value>> items_;  // what the array's `items` and `keys` point to
  std::vector<std::vector<mortise_str>> keys_;
};

}  // namespace mortise
