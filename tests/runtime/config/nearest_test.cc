// Nearest names. Thread rule: one thread. Flow: name_distance and suggest_name alone.
#include "config/nearest.h"

#include <catch2/catch.hpp>

using namespace mortise;

TEST_CASE("nearest: distances") {
  CHECK(name_distance("", "") == 0);
  CHECK(name_distance("", "abc") == 3);
  CHECK(name_distance("abc", "abc") == 0);
  CHECK(name_distance("abc", "ABC") == 0);
  CHECK(name_distance("abc", "acb") == 1);
  CHECK(name_distance("ab", "ba") == 1);
  CHECK(name_distance("kitten", "sitting") == 3);
  CHECK(name_distance("temprature", "temperature") == 1);
  CHECK(name_distance(std::string(100000, 'a'), std::string(100000, 'b')) == 128);
}

TEST_CASE("nearest: the closest known name, the first of equals") {
  CHECK(nearest_name("x", {}).empty());
  CHECK(nearest_name("tempreature", {"top_p", "temperature", "top_k"}) == "temperature");
  CHECK(nearest_name("top_x", {"top_p", "top_k"}) == "top_p");
}

TEST_CASE("nearest: a guess where it is near, else the list too") {
  CHECK(suggest_name("frontned", {"frontend", "sampler"}) == "did you mean 'frontend'?");
  CHECK(suggest_name("xyz", {"frontend", "sampler"}) ==
        "the nearest known is 'sampler' of frontend, sampler");
  CHECK(suggest_name("xyz", {"frontend"}) == "the nearest known is 'frontend'");
  CHECK(suggest_name("xyz", {}) == "none are known");
}
