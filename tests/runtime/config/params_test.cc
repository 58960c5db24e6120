// Declared parameters: TOML and JSON values of every type, tables, defaults.
// Thread rule: one thread. Flow: check_value and its users on small declarations.
#include <catch2/catch.hpp>

#include "declare.h"
#include "parse.h"

using namespace mortise;
using Json = nlohmann::ordered_json;

TEST_CASE("params: values of every type from TOML") {
  CHECK(toml(one(declare("x", MORTISE_BOOL)), "true")->i == 1);
  CHECK(toml(one(declare("x", MORTISE_INT)), "-7")->i == -7);
  CHECK(toml(one(declare("x", MORTISE_FLOAT)), "2")->f == 2.0);
  CHECK(toml(one(declare("x", MORTISE_FLOAT)), "0.25")->f == 0.25);
  const Value choice = *toml(one(declare("x", MORTISE_ENUM, nullptr, "human|json")), "\"json\"");
  CHECK(choice.i == 1);
  CHECK(choice.s == "json");
  CHECK(toml(one(declare("x", MORTISE_STRING)), "\"é\"")->s == "é");
  CHECK(toml(one(declare("x", MORTISE_SECRET)), "\"k\"")->s == "k");
  CHECK(toml(one(declare("x", MORTISE_BYTES)), "\"AP8=\"")->s == std::string("\0\xff", 2));
  CHECK(toml(one(declare("x", MORTISE_DURATION)), "250")->i == 250);
  CHECK(toml(one(declare("x", MORTISE_DURATION)), "\"2 s\"")->i == 2000);
  CHECK(toml(one(declare("x", MORTISE_JSON)), "\"{\\\"a\\\": [1]}\"")->s == "{\"a\":[1]}");
  CHECK(toml(one(declare("x", MORTISE_JSON)), "{ b = 1, a = [true] }")->s == "{\"b\":1,\"a\":[true]}");
  const Param path = one(declare("x", MORTISE_PATH, nullptr, nullptr, MORTISE_PARAM_CONFIG));
  CHECK(toml(path, "\"a/b\"")->s == "/cfg/a/b");
  CHECK(toml(path, "\"/a\"")->s == "/a");
  const Value list = *toml(one(declare("x", MORTISE_LIST)), "[1, \"a\", 2.5]");
  REQUIRE(list.items.size() == 3);
  CHECK(list.items[0].type == MORTISE_INT);
  CHECK(list.items[1].s == "a");
  CHECK(list.items[2].f == 2.5);
  CHECK(toml(one(declare("x", MORTISE_LIST)), "\"stop\"")->items[0].s == "stop");
  const Value map = *toml(one(declare("x", MORTISE_MAP)), "{ \"5\" = -1.5, a = \"b\" }");
  CHECK(map.keys == std::vector<std::string>{"5", "a"});
  CHECK(map.items[0].f == -1.5);
  CHECK(map.where == "f:1:3");
}

TEST_CASE("params: wrong values from TOML") {
  const std::pair<mortise_param, std::pair<const char*, const char*>> rows[] = {
      {declare("x", MORTISE_FLOAT), {"inf", "t.x expects a number, found the number inf; the help"}},
      {declare("x", MORTISE_FLOAT), {"nan", "t.x expects a number, found the number nan"}},
      {declare("x", MORTISE_FLOAT), {"true", "found true"}},
      {declare("x", MORTISE_FLOAT), {"\"0.5\"", "found the string \"0.5\"; remove the quotes"}},
      {declare("x", MORTISE_FLOAT, "1.0", "(0,1]"),
       {"0", "t.x = 0 is not in (0, 1]; the help (default 1.0)"}},
      {declare("x", MORTISE_INT), {"70000.0", "expects an integer, found the number 70000"}},
      {declare("x", MORTISE_BOOL), {"70000", "expects true or false, found the integer 70000"}},
      {declare("x", MORTISE_ENUM, nullptr, "chat|text"),
       {"\"chta\"", "is not one of \"chat\", \"text\"; did you mean 'chat'?"}},
      {declare("x", MORTISE_STRING, nullptr, "[1,3]"),
       {"\"éééé\"", "t.x has 4 characters, which is not in [1, 3]"}},
      {declare("x", MORTISE_LIST, nullptr, "[0,1]"), {"[1, 2]", "t.x has 2 items, which is not in [0, 1]"}},
      {declare("x", MORTISE_LIST), {"[1, true]", "found true as item 2"}},
      {declare("x", MORTISE_LIST), {"[nan]", "found the number nan as item 1"}},
      {declare("x", MORTISE_LIST), {"[[1]]", "found a list as item 1"}},
      {declare("x", MORTISE_LIST), {"{}", "expects a list of strings or numbers, found a table"}},
      {declare("x", MORTISE_MAP), {"{ a = [] }", "found a list as the value of a"}},
      {declare("x", MORTISE_MAP, nullptr, "[0,1]"), {"{ a = 1, b = 2 }", "t.x has 2 entries"}},
      {declare("x", MORTISE_MAP), {"[]", "expects a table of strings or numbers, found a list"}},
      {declare("x", MORTISE_DURATION),
       {"-1", "expects milliseconds or a duration such as \"2 s\", found the integer -1"}},
      {declare("x", MORTISE_DURATION), {"\"2\"", "found the string \"2\""}},
      {declare("x", MORTISE_DURATION, nullptr, "[0,1000]"), {"\"2 s\"", "t.x = 2000 ms is not in [0, 1000]"}},
      {declare("x", MORTISE_BYTES), {"\"A\"", "expects a string of base64"}},
      {declare("x", MORTISE_BYTES), {"\"A===\"", "expects a string of base64"}},
      {declare("x", MORTISE_JSON), {"\"{\"", "expects JSON, found the string \"{\""}},
      {declare("x", MORTISE_JSON), {"{ a = inf }", "expects JSON, found a table"}},
      {declare("x", MORTISE_JSON), {"2020-01-01", "expects JSON, found a date"}},
      {declare("x", MORTISE_SECRET), {"12345", "expects a string, found something else"}},
  };
  for (const auto& [param, row] : rows) {
    const std::string error = toml_error(one(param), row.first);
    INFO(row.first << " -> " << error);
    CHECK(holds(error, row.second));
    CHECK(error.rfind("f:1:", 0) == 0);
    CHECK(!holds(error, "12345"));
  }
}

TEST_CASE("params: what is redacted never stands in an error") {
  const uint32_t redacted = kBoth | MORTISE_PARAM_REDACTED;
  const std::pair<mortise_param, const char*> rows[] = {
      {declare("x", MORTISE_INT, "1", "[0,9]", redacted), "12345"},
      {declare("x", MORTISE_INT, "1", nullptr, redacted), "\"12345\""},
      {declare("x", MORTISE_ENUM, nullptr, "a|b", redacted), "\"12345\""},
      {declare("x", MORTISE_DURATION, nullptr, "[0,9]", redacted), "12345"},
      {declare("x", MORTISE_BYTES, nullptr, nullptr, redacted), "\"12345\""},
      {declare("x", MORTISE_LIST, nullptr, nullptr, redacted), "[12345, true]"},
  };
  for (const auto& [param, text] : rows) {
    const std::string error = toml_error(one(param), text);
    INFO(error);
    CHECK(error != "no error");
    CHECK(!holds(error, "12345"));
  }
}

TEST_CASE("params: JSON values, errors at the parameter's name") {
  CHECK(check_json(one(declare("x", MORTISE_INT)), Json(5))->i == 5);
  CHECK(check_json(one(declare("x", MORTISE_FLOAT)), Json(5))->f == 5.0);
  CHECK_FALSE(check_json(one(declare("x", MORTISE_FLOAT)), Json(nullptr))->is_set);
  CHECK(check_json(one(declare("stop", MORTISE_LIST)), Json::parse("[\"a\",\"b\"]"))->items[1].s == "b");
  const Value bias = *check_json(one(declare("x", MORTISE_MAP)), Json::parse("{\"1\":2,\"3\":-1.5}"));
  CHECK(bias.keys[1] == "3");
  CHECK(bias.items[1].f == -1.5);
  CHECK(check_json(one(declare("x", MORTISE_JSON)), Json::parse("{\"b\":18446744073709551615}"))->s ==
        "{\"b\":18446744073709551615}");
  CHECK(check_json(one(declare("x", MORTISE_JSON)), Json("text"))->s == "\"text\"");
  CHECK(json_error(one(declare("top_k", MORTISE_INT)), "5.0") ==
        "top_k: top_k expects an integer, found the number 5; the help");
  CHECK(holds(json_error(one(declare("x", MORTISE_INT)), "9223372036854775808"), "expects an integer"));
  CHECK(check_json(one(declare("x", MORTISE_INT)), Json::parse("9223372036854775807"))->i == INT64_MAX);
  CHECK(holds(json_error(one(declare("x", MORTISE_FLOAT, nullptr, "[0,2]")), "-1"),
              "x: x = -1 is not in [0, 2]"));
  CHECK(holds(json_error(one(declare("x", MORTISE_LIST)), "[null]"), "found null as item 1"));
  std::string deep(100, '[');
  deep.append(100, ']');
  CHECK(holds(json_error(one(declare("x", MORTISE_JSON)), deep), "expects JSON"));
  CHECK(holds(json_error(one(declare("x", MORTISE_LIST)), deep), "found a list as item 1"));
  CHECK(holds(toml_error(one(declare("x", MORTISE_JSON)), "'" + deep + "'"), "expects JSON"));
}

TEST_CASE("params: a plugin's table and the defaults are checked with nearest names") {
  const Params params = *read({declare("listen", MORTISE_STRING, "\"x\"", nullptr, MORTISE_PARAM_CONFIG),
                               declare("temperature", MORTISE_FLOAT, "1.0", "[0,2]", MORTISE_PARAM_REQUEST)});
  const Result<Pipeline> p = parse(
      "[model]\npath=\"m\"\n[plugin.a]\nlisten = \"y\"\n[plugin.b]\nlisen = \"y\"\n[plugin.c]\ntemperature = "
      "1\n"
      "[plugin.d]\nlisten = 1\n[defaults]\ntemprature = 0.2\n");
  REQUIRE(p);
  const Result<Given> good = check_table(params, "plugin.a", p->table("a"), p->folder);
  REQUIRE(good);
  CHECK(good->at("listen").s == "y");
  CHECK(good->at("listen").where == "x.toml:4:10");
  const auto error = [&](const char* name) {
    return check_table(params, std::string("plugin.") + name, p->table(name), p->folder).error().text();
  };
  CHECK(error("b") == "x.toml:6:1: unknown key plugin.b.lisen; did you mean 'listen'?");
  CHECK(
      holds(error("c"), "unknown key plugin.c.temperature; it is a request parameter: set it in [defaults]"));
  CHECK(holds(error("d"), "x.toml:10:10: plugin.d.listen expects a string, found the integer 1"));
  const Params merged = *merge_request_params({&params});
  CHECK(merged.list.size() == 1);
  CHECK(check_defaults(merged, p->defaults, p->folder).error().text() ==
        "x.toml:12:1: unknown key defaults.temprature; did you mean 'temperature'?");
}

TEST_CASE("params: defaults fill what was not given, in declared order") {
  const Params params = *read({declare("b", MORTISE_INT, "3"), declare("a", MORTISE_FLOAT),
                               declare("t", MORTISE_PATH, "\"w\"", nullptr, MORTISE_PARAM_CONFIG),
                               declare("c", MORTISE_INT, "4")});
  Given given;
  given["c"] = *check_json(params.list[3], Json(9));
  given["zzz"] = given["c"];
  given["a"] = given["c"];  // another part's parameter of another type
  const Values values = fill_values(params, given, "/cfg");
  REQUIRE(values.count() == 4);
  CHECK(values.data()[0].i == 3);
  CHECK(values.data()[0].is_set == 1);
  CHECK(values.data()[1].is_set == 0);
  CHECK(values.data()[1].type == MORTISE_FLOAT);
  CHECK(view(values.data()[2].s) == "/cfg/w");
  CHECK(values.data()[3].i == 9);
  CHECK(values[3].where == "c");
  CHECK(values[0].where.empty());
}
