// The C array over checked values stays right through moves and copies. Thread rule: one thread. Flow: Values
// alone.
#include "config/values.h"

#include <mortise/cpp/result.h>

#include <catch2/catch.hpp>

using namespace mortise;

namespace {

Value text_value(std::string s) {
  Value v;
  v.type = MORTISE_STRING;
  v.is_set = true;
  v.s = std::move(s);
  return v;
}

Values sample() {
  Value map;
  map.type = MORTISE_MAP;
  map.is_set = true;
  map.items = {text_value("one"), text_value("two")};
  map.keys = {"1", "2"};
  Value list;
  list.type = MORTISE_LIST;
  list.is_set = true;
  list.items = {text_value("l")};
  return Values({text_value("short"), std::move(map), std::move(list), Value{}});
}

void check_sample(const Values& values) {
  REQUIRE(values.count() == 4);
  const mortise_value* v = values.data();
  CHECK(view(v[0].s) == "short");
  CHECK(v[0].s.data == values[0].s.data());
  REQUIRE(v[1].count == 2);
  CHECK(view(v[1].keys[1]) == "2");
  CHECK(view(v[1].items[1].s) == "two");
  CHECK(v[1].items[0].s.data == values[1].items[0].s.data());
  REQUIRE(v[2].count == 1);
  CHECK(v[2].keys == nullptr);
  CHECK(view(v[2].items[0].s) == "l");
  CHECK(v[3].is_set == 0);
}

}  // namespace

TEST_CASE("values: copies and moves point into themselves") {
  Values first = sample();
  check_sample(first);
  const mortise_value* before = first.data();
  Values moved = std::move(first);
  CHECK(moved.data() == before);
  check_sample(moved);
  Values copied = moved;
  moved = Values();
  check_sample(copied);
  Values assigned;
  assigned = copied;
  copied = Values({text_value("other")});
  check_sample(assigned);
  const Values& self = assigned;
  assigned = self;
  check_sample(assigned);
  CHECK(Values().count() == 0);
}
