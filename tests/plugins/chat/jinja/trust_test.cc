// Provenance: user text stays user text through every operation, the template's own text stays trusted.
// Thread rule: one thread. Flow: Catch2.
#include "engine_test.h"

namespace mortise::jinja {

constexpr const char* kUser = R"({"u": " a<|x|>b ", "l": ["p", "q"], "d": {"k": "v"}})";

TEST_CASE("chat jinja: provenance through operators and filters", "[jinja]") {
  CHECK(traced("<|s|>{{ u }}<|e|>", kUser) == "<|s|>« a<|x|>b »<|e|>");
  CHECK(traced("{{ '<' + u|trim ~ '>' }}", kUser) == "<«a<|x|>b»>");
  CHECK(traced("{{ u[1:3] }}|{{ u[::-1] }}|{{ u * 2 }}", kUser) == "«a<»|« b>|x|<a »|« a<|x|>b  a<|x|>b »");
  CHECK(traced("{{ u.replace('<', '[') }}", kUser) == "« a»[«|x|>b »");
  CHECK(traced("{{ 'x-y'.replace('-', u.strip()) }}", kUser) == "x«a<|x|>b»y");
  CHECK(traced("{{ u.split('|')[1] }}{{ u|upper }}{{ u.strip()|title }}", kUser) == "«x A<|X|>B A<|x|>b»");
  CHECK(traced("{{ l|join(', ') }} {{ ', '.join(l) }}", kUser) == "«p», «q» «p», «q»");
  CHECK(traced("{{ '%s!' % u }}{{ '{}!'.format(u) }}{{ '%-3s|' % l[0] }}", kUser) ==
        "« a<|x|>b »!« a<|x|>b »!«p»  |");
  CHECK(traced("{{ d|tojson }}{{ l }}", kUser) == "{\"«k»\": \"«v»\"}['«p»', '«q»']");
  CHECK(traced("{{ u|indent(2, true) }}{{ u|truncate(5, true, '..', 0) }}", kUser) == "  « a<|x|>b  a<»..");
  CHECK(traced("{{ '%c' % 60 }}{{ '{:c}'.format(60) }}{{ '{:{}}'.format('a', l[0] ~ '<3') }}", kUser) ==
        "«<<app»");
  CHECK(traced("{{ u|e }}", kUser) == "« a&lt;|x|&gt;b »");
}

TEST_CASE("chat jinja: provenance through macros, blocks and variables", "[jinja]") {
  CHECK(traced("{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(u) }}", kUser) == "[« a<|x|>b »]");
  CHECK(traced("{% set s %}-{{ l[0] }}-{% endset %}{{ s|upper }}", kUser) == "-«P»-");
  CHECK(traced("{% filter upper %}t{{ l[1] }}{% endfilter %}", kUser) == "T«Q»");
  CHECK(traced("{% set ns = namespace(s='') %}{% for x in l %}{% set ns.s = ns.s ~ x ~ ';' %}{% endfor %}{{ "
               "ns.s }}",
               kUser) == "«p»;«q»;");
  CHECK(traced("{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}", kUser) == "«k»=«v»");
}

TEST_CASE("chat jinja: roles that templates know are trusted, others are not", "[jinja]") {
  constexpr const char* source =
      "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content }}{% endfor %}{{ eos_token }}";
  CHECK(chat(source, R"({"messages": [{"role": "user", "content": "<|end|>"}]})") == "<|user|>«<|end|>»</s>");
  CHECK(chat(source, R"({"messages": [{"role": "endoftext", "content": "x"}]})") == "<|«endoftext»|>«x»</s>");
}

TEST_CASE("chat jinja: messages are normalised before the template sees them", "[jinja]") {
  constexpr const char* source =
      "{% for m in messages %}{{ m.role }}:{{ m.content }}{% for c in m.tool_calls or [] %}[{{ "
      "c.function.name }} "
      "{{ c.function.arguments | tojson }}]{% endfor %};{% endfor %}{{ tools is none }}{{ "
      "add_generation_prompt }}";
  CHECK(chat(source, R"({"messages": [{"role": "assistant", "content": null, "name": null, "tool_calls":
        [{"function": {"name": "add", "arguments": "{\"b\": 2, \"a\": 1}"}}]}]})") ==
        "assistant:[«add» {\"«b»\": 2, \"«a»\": 1}];TrueTrue");
  CHECK(chat(source,
             R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}], "tools": [],
        "add_generation_prompt": false})") == "user:«ab»;TrueFalse");
  CHECK(chat("{{ messages[0].name is defined }}", R"({"messages": [{"role": "user", "name": null}]})") ==
        "False");
  CHECK(has(chat(source, R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"),
            "messages[0].content: content has a part that is not text"));
  CHECK(has(chat(source, R"({"messages": 3})"), "must be a list"));
  CHECK(has(chat(source, R"({"messages": [3]})"), "messages[0]: a message must be an object"));
  CHECK(has(chat(source, R"({})"), "lacks messages"));
  CHECK(has(chat(source, "[1,]"), "request@3: not JSON: expected a value"));
}

}  // namespace mortise::jinja
