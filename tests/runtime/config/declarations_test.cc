// Declarations of parameters: ranges, what is refused, merging of several parts' lists, descriptions.
// Thread rule: one thread. Flow: read_params and merge_request_params.
#include <catch2/catch.hpp>

#include "declare.h"
#include "parse.h"

using namespace mortise;

TEST_CASE("params: ranges") {
  for (const char* good : {"[0,1]", "(0,1]", "[0,)", "(,1)", "[ 0 , 1 ]", "[-1e3,2.5)", "(,)", "[1,1]"}) {
    INFO(good);
    CHECK(parse_range(good));
  }
  for (const char* bad :
       {"", "0,1", "[0]", "[0,1", "0,1]", "[1,0]", "[a,1]", "[0,1,2]", "[nan,1]", "[0,inf]", "[0;1]"}) {
    INFO(bad);
    CHECK_FALSE(parse_range(bad));
  }
  const Range half = *parse_range("(0,1]");
  CHECK_FALSE(half.contains(0));
  CHECK(half.contains(1e-9));
  CHECK(half.contains(1));
  CHECK_FALSE(half.contains(1.0001));
  CHECK(half.text() == "(0, 1]");
  CHECK(parse_range("[0,)")->text() == "[0, inf)");
  CHECK(parse_range("[1,16777216]")->text() == "[1, 16777216]");
}

TEST_CASE("params: a wrong declaration is refused and named") {
  const std::pair<mortise_param, const char*> rows[] = {
      {declare(nullptr, MORTISE_INT), "a name must be"},
      {declare("", MORTISE_INT), "a name must be"},
      {declare("Top-P", MORTISE_INT), "a name must be"},
      {declare("x", 99), "unknown type 99"},
      {declare("x", MORTISE_INT, nullptr, nullptr, 0), "of the configuration, of requests, or both"},
      {declare("x", MORTISE_INT, nullptr, "0..1"), "a range is written [0,1]"},
      {declare("x", MORTISE_INT, "5", "[0,1]"), "the default = 5 is not in [0, 1]"},
      {declare("x", MORTISE_INT, "1.5"), "the default expects an integer"},
      {declare("x", MORTISE_INT, "what"), "the default is no TOML value"},
      {declare("x", MORTISE_INT, "1\ny=2"), "not one line"},
      {declare("x", MORTISE_ENUM, "\"a\""), "must list its choices"},
      {declare("x", MORTISE_ENUM, "\"c\"", "a|b"), "the default = \"c\" is not one of"},
      {declare("x", MORTISE_ENUM, nullptr, "a||b"), "must list its choices"},
      {declare("x", MORTISE_BOOL, "true", "[0,1]"), "takes no range"},
      {declare("x", MORTISE_PATH), "a request must not name paths"},
      {declare("x", MORTISE_STRING, "\"\xff\""), "not UTF-8"},
  };
  for (const auto& [param, error] : rows) {
    INFO(declaration_error(param));
    CHECK(holds(declaration_error(param), error));
    CHECK(holds(declaration_error(param), "p: parameter '"));
    CHECK(holds(declaration_error(param), "; correct the plugin"));
  }
  const std::string long_text(2000, 'x');
  mortise_param wordy = declare("x", MORTISE_INT);
  wordy.help = long_text.c_str();
  CHECK(holds(declaration_error(wordy), "longer than 1024 bytes"));
  mortise_param shorter = declare("x", MORTISE_INT);
  shorter.size = 8;
  CHECK(holds(declaration_error(shorter), "null or too short"));
  const mortise_param* null = nullptr;
  CHECK_FALSE(read_params("p", &null, 1));
  CHECK_FALSE(read_params("p", nullptr, 1));
  CHECK_FALSE(read_params("p", &null, kMaxParams + 1));
  CHECK(read_params("p", nullptr, 0));
  CHECK(holds(read({declare("x", MORTISE_INT), declare("x", MORTISE_INT)}).error().text(), "declared twice"));
}

TEST_CASE("params: two parts share a request name only with one type and range") {
  const Params a =
      *read({declare("p", MORTISE_FLOAT, "1.0", "[0,1]"), declare("k", MORTISE_INT)}, "sampler a");
  const Params same = *read({declare("p", MORTISE_FLOAT, "0.5", "[0, 1]")}, "sampler b");
  const Params other = *read({declare("p", MORTISE_FLOAT, nullptr, "(0,1]")}, "sampler c");
  const Params type = *read({declare("p", MORTISE_INT)}, "sampler d");
  const Params config =
      *read({declare("p", MORTISE_INT, nullptr, nullptr, MORTISE_PARAM_CONFIG)}, "sampler e");
  const Result<Params> merged = merge_request_params({&a, &same, &config});
  REQUIRE(merged);
  CHECK(merged->list.size() == 2);
  CHECK(merge_request_params({&a, &other}).error().text() ==
        "p: 'sampler a' declares this request parameter as a number in [0, 1], 'sampler c' as a number in "
        "(0, 1]; "
        "leave one of the two out");
  CHECK(holds(merge_request_params({&a, &type}).error().text(), "'sampler d' as an integer"));
}

TEST_CASE("params: descriptions for plugins --json and for help") {
  mortise_param window = declare("window", MORTISE_INT, "512", "[2,65536]", MORTISE_PARAM_CONFIG);
  window.unit = "tokens";
  const Params params =
      *read({window, declare("out", MORTISE_ENUM, "\"a\"", "a|b"), declare("key", MORTISE_SECRET, "\"s3\"")});
  CHECK(
      describe_params(params).dump() ==
      R"([{"name":"window","type":"int","default":512,"range":"[2, 65536]",)"
        R"("unit":"tokens","help":"the help",)"
      R"("config":true,"request":false},{"name":"out","type":"enum","default":"a","range":"a|b","unit":null,)"
      R"("help":"the help","config":true,"request":true},{"name":"key","type":"secret","default":null,)"
      R"("range":null,"unit":null,"help":"the help","config":true,"request":true}])");
  const std::vector<std::string> lines = help_lines(params);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "window  the help (an integer in [2, 65536], tokens, default 512)");
  CHECK(lines[1] == "out     the help (one of \"a\", \"b\", default \"a\")");
  CHECK(lines[2] == "key     the help (a string)");
}
