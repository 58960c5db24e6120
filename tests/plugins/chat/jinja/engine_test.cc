// The engine's language, spot checks beside the differential test: scopes, undefined, numbers, errors with
// lines.
// Thread rule: one thread. Flow: Catch2.
#include "engine_test.h"

namespace mortise::jinja {

TEST_CASE("chat jinja: white space around tags", "[jinja]") {
  CHECK(shown("a\n  {% if true %}\n b\n  {% endif %}\nc\n") == "a\n b\nc");
  CHECK(shown("a  {%- if true -%}  b  {%- endif %}  c") == "ab  c");
  CHECK(shown("  {%+ if true %}x{% endif +%}\ny") == "  x\ny");
  CHECK(shown("{# c #}\nx{#- y -#}  z") == "xz");
  CHECK(shown("a\r\n{{ 'b' }}\rc") == "a\nb\nc");
  CHECK(shown("{% raw %}{{ x }}{% endraw %}") == "{{ x }}");
}

TEST_CASE("chat jinja: a set in a loop stays in its iteration, an if has no scope", "[jinja]") {
  CHECK(shown("{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 5 %}{{ x }}{% endfor %}{{ x }}") ==
        "15151");
  CHECK(shown("{% if true %}{% set x = 1 %}{% endif %}{{ x }}") == "1");
  CHECK(shown("{% for i in [1] %}{{ x }}{% endfor %}{% set x = 1 %}", R"({"x": 5})") == "");
  CHECK(shown("{% set ns = namespace(n=0) %}{% for i in range(4) %}{% set ns.n = ns.n + i %}{% endfor %}{{ "
              "ns.n }}") == "6");
  CHECK(shown("{% macro m() %}{{ x }}{% endmacro %}{% set x = 3 %}{{ m() }}") == "3");
}

TEST_CASE("chat jinja: undefined prints nothing and refuses the rest", "[jinja]") {
  CHECK(shown("[{{ x }}{{ (x.y is defined) if x }}{% for i in x %}{% endfor %}]") == "[]");
  CHECK(has(shown("\n{{ x.y }}"), "line 2: 'x' is undefined"));
  CHECK(has(shown("{{ {}.a.b }}"), "'dict object' has no attribute 'a'"));
  CHECK(has(shown("{{ 1 + x }}"), "'x' is undefined"));
  CHECK(shown("{{ x == y }} {{ x is undefined }} {{ x|default('d') }}") == "True True d");
}

TEST_CASE("chat jinja: numbers print as Python prints them", "[jinja]") {
  CHECK(
      shown("{{ 1e15 }} {{ 1e16 }} {{ 0.0001 }} {{ 1e-5 }} {{ 2.0 }} {{ -0.0 }} {{ 9007199254740992.0 }}") ==
      "1000000000000000.0 1e+16 0.0001 1e-05 2.0 -0.0 9007199254740992.0");
  CHECK(shown("{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** -1 }} {{ 5.5 % -2 }}") ==
        "3 -4 2 3.5 0.5 -0.5");
  CHECK(has(shown("{{ 9223372036854775807 + 1 }}"), "64 bits"));
  CHECK(has(shown("{{ 10 ** 19 }}"), "64 bits"));
  CHECK(has(shown("{{ -9223372036854775807 - 2 }}"), "64 bits"));
  CHECK(shown("{{ (-9223372036854775807 - 1) // -1 }}") ==
        "error: chat template line 1: integer overflow: integers beyond 64 bits are not supported");
  CHECK(has(shown("{{ 1 // 0 }}"), "division"));
}

TEST_CASE("chat jinja: the immutable sandbox refuses what changes values", "[jinja]") {
  CHECK(has(shown("{{ x.append(1) }}", R"({"x": []})"), "unsafe"));
  CHECK(has(shown("{{ x.update({}) }}", R"({"x": {}})"), "unsafe"));
  CHECK(shown("{{ x.__class__ }}{{ x.pop is defined }}", R"({"x": []})") == "False");
}

TEST_CASE("chat jinja: a template that cannot be is refused with its line", "[jinja]") {
  CHECK(has(shown("a\n{% if %}"), "chat template line 2: expected an expression, got '%}'"));
  CHECK(has(shown("{% for x in y %}"), "ends before {% endfor or else %}"));
  CHECK(has(shown("{{ 1 | nosuch }}"), "no filter named 'nosuch'"));
  CHECK(has(shown("{% frob %}"), "'frob'"));
  CHECK(has(shown("{% break %}"), "inside a loop"));
  CHECK(has(shown("{{ 'a"), "without end"));
  CHECK(has(shown("{# a"), "not closed"));
  CHECK(has(shown("\xff"), "not UTF-8"));
  CHECK(shown("{% if false %}{{ 1 | nosuch }}{% endif %}") == "");
}

TEST_CASE("chat jinja: raise_exception passes its message through", "[jinja]") {
  CHECK(shown("a\nb\n{{ raise_exception('Roles must alternate, ' ~ 2) }}") ==
        "error: chat template line 3: Roles must alternate, 2");
}

TEST_CASE("chat jinja: letters outside ASCII change case as in Python", "[jinja]") {
  CHECK(shown("{{ x|upper }} {{ x|title }} {{ 'ΟΔΟΣ'|lower }} {{ 'привет'|capitalize }}",
              R"({"x": "straße ǆ"})") == "STRASSE Ǆ Straße Ǆ οδος Привет");
  CHECK(shown("{{ x|length }}{{ x[1] }}{{ x[::-1] }}{{ x[-2:] }}", R"({"x": "aé日😀"})") == "4é😀日éa日😀");
}

}  // namespace mortise::jinja
