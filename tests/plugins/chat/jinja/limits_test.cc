// Every limit of the engine: what exceeds it ends with one line, and nothing crashes or hangs.
// Thread rule: one thread. Flow: Catch2.
#include "engine_test.h"
#include "json_read.h"

namespace mortise::jinja {
namespace {

std::string repeated(std::string_view s, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += s;
  return out;
}

}  // namespace

TEST_CASE("chat jinja limits: size and nesting of the source", "[jinja]") {
  CHECK(has(shown(std::string(kMaxTemplateBytes + 1, 'a')), "larger than 1024 KiB"));
  CHECK(shown(std::string(kMaxTemplateBytes, 'a')).size() == kMaxTemplateBytes);
  struct Nesting {
    const char *open, *close;
  };
  for (const Nesting n : {Nesting{"(", ")"},
                          {"[", "]"},
                          {"{1:", "}"},
                          {"-", ""},
                          {"not ", ""},
                          {"x[", "]"},
                          {"f(", ")"},
                          {"x if ", ""},
                          {"1 if 1 else ", ""},
                          {"x|d(", ")"},
                          {"x is in(", ")"}}) {
    CHECK(has(shown("{{ " + repeated(n.open, 50'000) + "1" + repeated(n.close, 50'000) + " }}"), "levels"));
  }
  CHECK(has(shown(repeated("{% if true %}", 20'000)), "levels"));
  CHECK(has(shown(repeated("{% for x in y %}", 20'000)), "levels"));
  CHECK(shown("{{ " + repeated("(", 30) + "1" + repeated(")", 30) + " }}") == "1");
}

TEST_CASE("chat jinja limits: long chains of operators, filters and attributes", "[jinja]") {
  for (const char* link : {" + 1", " or 1", "|abs", ".a", "[0]", "()", " if 1", " is odd"}) {
    const std::string text = shown("{{ 1" + repeated(link, 50'000) + " }}");
    CHECK(has(text, "error: "));
  }
  CHECK(shown("{{ 1" + repeated(" + 1", 200) + " }}") == "201");
  CHECK(shown("{{ 1" + repeated(" ~ 1", 5'000) + " }}").size() == 5'001);
}

TEST_CASE("chat jinja limits: recursion of macros, loops and values", "[jinja]") {
  CHECK(has(shown("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), "levels"));
  CHECK(has(shown("{% macro m(n) %}{% if n %}{{ m(n - 1) }}{% endif %}{{ n }},{% endmacro %}{{ m(40) }}"),
            "0,1,2,3"));
  CHECK(
      has(shown("{% set ns = namespace(a=[1]) %}{% for i in [ns.a] recursive %}{{ loop([i]) }}{% endfor %}"),
          "levels"));
  constexpr const char* deep =
      "{% set ns = namespace(a=[], b=[]) %}{% for i in range(5000) %}{% set ns.a = [ns.a] %}"
      "{% set ns.b = [ns.b] %}{% endfor %}";
  for (const char* use : {"{{ ns.a }}", "{{ ns.a|tojson }}", "{{ ns.a == ns.b }}", "{{ ns.a < ns.b }}"}) {
    CHECK(has(shown(std::string(deep) + use), "levels"));
  }
  CHECK(has(shown("{% set ns = namespace(g=[1]) %}{% for i in range(5000) %}{% set ns.g = ns.g|map('abs') %}"
                  "{% endfor %}{{ ns.g|list }}"),
            "levels"));
  CHECK(shown("{% set ns = namespace() %}{% set ns.self = ns %}{{ ns.self.self is defined }}") == "True");
}

TEST_CASE("chat jinja limits: operations", "[jinja]") {
  const std::string text = shown(
      "{% for a in range(100000) %}{% for b in range(100000) %}{% if a == -1 %}x{% endif %}{% endfor %}{% "
      "endfor %}");
  CHECK((has(text, "operations") || has(text, "longer than 1000 ms")));
  CHECK(shown("{% set ns = namespace(n=0) %}{% for a in range(30000) %}{% set ns.n = ns.n + 1 %}{% endfor %}"
              "{{ ns.n }}") == "30000");
}

TEST_CASE("chat jinja limits: output and memory", "[jinja]") {
  // On a slow machine the time is up before the memory is.
  const auto too_much = [](const std::string& text) {
    return has(text, "MiB of values") || has(text, "longer than 1000 ms");
  };
  CHECK(has(shown("{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}"), "error: "));
  CHECK(has(shown("{{ 'x' * 20000000 }}"), "longer than 16 MiB"));
  CHECK(has(shown("{{ 'x' * 10000000000 }}"), "MiB of values"));
  CHECK(has(shown("{{ [1] * 1000000000000 }}"), "MiB of values"));
  CHECK(has(shown("{{ 'ab'.center(10 ** 12) }}"), "MiB of values"));
  CHECK(has(shown("{{ 'a'.zfill(10 ** 12) }}"), "MiB of values"));
  CHECK(too_much(shown(
      "{% set ns = namespace(s='ab') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}")));
  CHECK(too_much(shown("{{ ('a' * 100000).replace('a', 'b' * 100000) }}")));
  CHECK(has(shown("{{ ['a' * 1000000] * 1000000 | join }}"), "error: "));
  CHECK(has(shown("{{ [1]|batch(10 ** 12, 0)|list }}"), "MiB of values"));
}

TEST_CASE("chat jinja limits: range, widths and formats", "[jinja]") {
  CHECK(shown("{{ range(100000)|length }}") == "100000");
  CHECK(has(shown("{{ range(100001) }}"), "100000"));
  CHECK(has(shown("{{ range(-9223372036854775807, 9223372036854775807) }}"), "100000"));
  CHECK(has(shown("{{ range(0, 1, 0) }}"), "must not be zero"));
  CHECK(has(shown("{{ '%99999d' % 1 }}"), "above 10000"));
  CHECK(has(shown("{{ '{:99999}'.format(1) }}"), "above 10000"));
  CHECK(has(shown("{{ '%.99999f' % 1 }}"), "above 10000"));
  CHECK(has(shown("{{ 'a'|indent(10 ** 9) }}"), "too large"));
  CHECK(has(shown("{{ [1]|tojson(indent=10 ** 9) }}"), "too wide"));
  CHECK(has(shown("{{ strftime_now('%Y' * 200) }}"), "256 bytes"));
}

TEST_CASE("chat jinja limits: the request", "[jinja]") {
  Heap heap;
  const auto refused = [&heap](const std::string& json) {
    const Result<Value> v = read_json(heap, json, true, "request");
    return v ? std::string("accepted") : v.error().text();
  };
  CHECK(has(refused(repeated("[", 100'000)), "nested too deep"));
  CHECK(has(refused(repeated("{\"a\":", 100'000)), "nested too deep"));
  CHECK(refused(repeated("[", 64) + repeated("]", 64)) == "accepted");
  CHECK(has(refused(std::string(kMaxInputBytes + 1, ' ')), "more than 64 MiB"));
  CHECK(has(refused("\"\xc3\""), "not UTF-8"));
  CHECK(has(refused("18446744073709551616"), "beyond 64 bits"));
  for (const char* bad :
       {"", "01", "1.", "[1,]", "{\"a\" 1}", "\"\\ud800\"", "\"\\x\"", "nul", "1 2", "\"\n\"", "-"}) {
    CHECK(has(refused(bad), "not JSON"));
  }
}

}  // namespace mortise::jinja
