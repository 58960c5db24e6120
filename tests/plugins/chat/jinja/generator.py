"""Random small templates, from a seed, over a fixed set of variables.
Thread rule: one Generator each. Flow: used by differential_test.py."""

import random

VARIABLES = {
    "s": "Hello, World",
    "t": "  grüße <b>&\n",
    "u": "ΑΣ straße ǆ",
    "e": "",
    "words": "the quick  brown\tfox",
    "n": 7,
    "m": -3,
    "z": 0,
    "f": 2.5,
    "g": -0.125,
    "big": 1e16,
    "yes": True,
    "no": False,
    "nil": None,
    "lst": [3, 1, 2],
    "names": ["bob", "Alice", "carol", "alice"],
    "mixed": [1, "a", None, True, 2.0, [1], {"k": 1}],
    "d": {"b": 1, "a": "x", "items": [1, 2]},
    "empty": [],
    "nested": {"x": {"y": [1, {"z": "deep"}]}},
    "msgs": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi  ", "n": 2},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.0}}}],
        },
        {"role": "user", "content": "héllo\n\nworld", "n": 1},
    ],
}


def _list(text):
    """Items between double semicolons; a backslash stands for itself."""
    return [item.strip() for item in text.split(";;")]


NAMES = list(VARIABLES) + ["undef", "x", "y", "ns"]
FILTERS = _list(r"""
abs ;; batch(2) ;; batch(2, '-') ;; capitalize ;; center(9) ;; count ;; d('?') ;; default('?', true) ;;
dictsort ;; dictsort(by='value') ;; dictsort(reverse=true) ;; e ;; escape ;; first ;; float ;;
float(1.5) ;; format(1) ;; groupby('role') ;; groupby(0) ;; indent ;; indent(2, true) ;;
indent('> ', blank=true) ;; int ;; int(9) ;; int(base=16) ;; items ;; join ;; join(', ') ;;
join('-', attribute='role') ;; last ;; length ;; list ;; lower ;; map('upper') ;;
map(attribute='role') ;; map(attribute='n', default='?') ;; map('default', '!') ;; map('length') ;;
max ;; min ;; max(attribute='n') ;; reject ;; reject('none') ;; rejectattr('n') ;;
rejectattr('role', 'equalto', 'user') ;; replace('l', 'L') ;; replace('o', '0', 1) ;;
replace('', '_') ;; reverse ;; round ;; round(1) ;; round(2, 'floor') ;; round(method='ceil') ;;
safe ;; select ;; select('string') ;; select('>', 1) ;; select('divisibleby', 2) ;; selectattr('n') ;;
selectattr('role', 'in', ['user', 'tool']) ;; selectattr('n', 'defined') ;; slice(2) ;; slice(3, 0) ;;
sort ;; sort(reverse=true) ;; sort(attribute='role') ;; sort(attribute='role,content') ;;
sort(case_sensitive=true) ;; string ;; sum ;; sum(start=10) ;; sum(attribute='n') ;; title ;; tojson ;;
tojson(indent=2) ;; tojson(sort_keys=true) ;; tojson(ensure_ascii=true) ;;
tojson(separators=(',', ':')) ;; trim ;; trim('Hd ') ;; truncate(8) ;; truncate(8, true) ;;
truncate(5, false, '', 0) ;; unique ;; upper ;; urlencode ;; wordcount ;; attr('role') ;;
nosuchfilter ;; forceescape""")
TESTS = _list(r"""
boolean ;; callable ;; defined ;; divisibleby(2) ;; divisibleby 3 ;; eq(1) ;; equalto 'x' ;; even ;;
odd ;; false ;; true ;; float ;; integer ;; ge 1 ;; gt(0) ;; le 2 ;; lt 3 ;; ne(1) ;; in [1, 2, 'a'] ;;
iterable ;; lower ;; upper ;; mapping ;; none ;; number ;; sameas(none) ;; sequence ;; string ;;
undefined ;; filter ;; test ;; escaped ;; nosuchtest""")
METHODS = _list(r"""
strip() ;; lstrip() ;; rstrip('d') ;; strip('He') ;; split() ;; split('l') ;; split(',', 1) ;;
rsplit(None, 1) ;; rsplit('l', maxsplit=1) ;; split(maxsplit=1) ;; splitlines() ;; splitlines(true) ;;
upper() ;; lower() ;; title() ;; capitalize() ;; swapcase() ;; casefold() ;; startswith('He') ;;
startswith(('x', '  ')) ;; endswith('d') ;; endswith('d', 2) ;; replace('l', 'LL') ;;
replace('l', '', 1) ;; find('o') ;; find('o', 5) ;; rfind('o') ;; index('o') ;; count('l') ;;
count('') ;; join(names) ;; join(['a', 'b']) ;; join('xyz') ;; removeprefix('Hel') ;;
removesuffix('ld') ;; isdigit() ;; isalpha() ;; isspace() ;; isalnum() ;; isupper() ;; islower() ;;
istitle() ;; zfill(15) ;; center(15) ;; center(16, '*') ;; ljust(14, '.') ;; rjust(14) ;;
partition(' ') ;; rpartition('l') ;; format(1, 2) ;; items() ;; keys() ;; values() ;; items()|list ;;
get('a') ;; get('q', 5) ;; get('q') ;; copy() ;; pop() ;; append(1) ;; update({}) ;; index(1) ;;
count(1) ;; format ;; nosuch() ;; nosuch""")
STRINGS = [
    "'a'",
    '"it\'s"',
    "'l'",
    "''",
    "'%s-%s'",
    "'%05.1f|'",
    "'{} {}'",
    "'{0}{1!r}'",
    "'a' 'b'",
    "'x\\ny'",
    "'\\u00e9\\x41'",
    "'\\q\\''",
    "'%d%%'",
    "'{a}'",
    "'<i>'",
]
OPS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]


class Generator:
    """Draws templates; every choice comes from the seed."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, items):
        return self.r.choice(items)

    def literal(self):
        return self.pick(
            [
                lambda: str(self.r.randint(-3, 30)),
                lambda: self.pick(["1.5", "1e3", "0.1", "2.0", "1_000"]),
                lambda: self.pick(STRINGS),
                lambda: self.pick(["true", "False", "none", "None"]),
            ]
        )()

    def expr(self, depth=3):
        r = self.r
        if depth <= 0 or r.random() < 0.15:
            return self.pick(NAMES) if r.random() < 0.7 else self.literal()
        sub = lambda: self.expr(depth - 1)  # noqa: E731
        return self.pick(
            [
                lambda: f"{sub()} {self.pick(OPS)} {sub()}",
                lambda: f"({sub()} {self.pick(OPS)} {sub()})",
                lambda: f"{sub()}|{self.pick(FILTERS)}",
                lambda: f"({sub()})|{self.pick(FILTERS)}|{self.pick(FILTERS)}",
                lambda: f"{self.pick(NAMES)}|{self.pick(FILTERS)}",
                lambda: f"{self.pick(['s', 't', 'u', 'words', 'd', 'lst'])}.{self.pick(METHODS)}",
                lambda: f"({sub()}).{self.pick(METHODS)}",
                lambda: f"{sub()} is {self.pick(TESTS)}",
                lambda: f"{self.pick(NAMES)} is not {self.pick(TESTS)}",
                lambda: f"not {sub()}",
                lambda: f"-{sub()}",
                lambda: f"({sub()} if {sub()} else {sub()})",
                lambda: f"({sub()} if {sub()})",
                lambda: f"{self.pick(NAMES)}[{self.index()}]",
                lambda: f"({sub()})[{self.index()}]",
                lambda: self.pick(["d", "nested", "msgs", "x", "ns", "loop"])
                + "."
                + self.pick(["a", "items", "x", "index", "last", "v", "role", "0"]),
                lambda: f"[{sub()}, {sub()}]",
                lambda: f"({sub()}, {sub()})",
                lambda: f"({sub()},)",
                lambda: f"{{{self.pick(STRINGS)}: {sub()}, {self.literal()}: {sub()}}}",
                lambda: f"range({self.r.randint(-2, 6)}{self.pick(['', ', 5', ', 9, 2', ', -4, -1'])})",
                lambda: f"{sub()} {self.pick(['<', '==', 'in'])} {sub()} "
                f"{self.pick(['<', '!=', 'not in'])} {sub()}",
                lambda: f"{self.pick(STRINGS)} % "
                f"{self.pick(['1', 's', '(1, s)', 'd', 'f', '(s, nil)', 'lst'])}",
                lambda: f"{self.pick(STRINGS)}.format({self.pick(['1, 2', 's, f', 'a=1', 'lst, d', ''])})",
                lambda: f"mac({sub()}{self.pick(['', ', q=2', ', 1, 2', ', zz=1'])})",
                lambda: f"dict({self.pick(['a=1', 'd, z=2', '[[1, 2]]', ''])})",
                lambda: f"{self.r.randint(0, 3)} ** {self.r.randint(-1, 3)}",
                lambda: self.pick(
                    [
                        "loop.index",
                        "loop.last",
                        "loop.previtem",
                        "loop.nextitem",
                        "loop.cycle('a', 'b')",
                        "loop.changed(x)",
                        "loop.length",
                        "loop.revindex0",
                        "loop.depth",
                    ]
                ),
            ]
        )()

    def index(self):
        r = self.r
        part = lambda: self.pick(["", str(r.randint(-4, 4))])  # noqa: E731
        return self.pick(
            [
                lambda: str(r.randint(-4, 4)),
                lambda: f"{part()}:{part()}",
                lambda: f"{part()}:{part()}:{self.pick(['-1', '2', '', '-2'])}",
                lambda: self.pick(["'a'", "'items'", "'role'", "'x'", "n", "nil", "1.0", "true"]),
            ]
        )()

    def tag(self, body):
        return "{%" + self.pick(["", "", "-", "+"]) + " " + body + " " + self.pick(["", "", "-", "+"]) + "%}"

    def text(self):
        return self.pick(
            [
                "",
                " ",
                "\n",
                "  \n",
                "a",
                " b ",
                "\n\n  ",
                "\t",
                "x\r\ny",
                "{",
                "}}",
                "#",
                "{# c #}",
                "{#- c -#}\n",
                "  {# c #}\n",
                "{% raw %} {{ r }} {% endraw %}",
                "{%- raw -%} {% x {%- endraw +%}\n",
                "é",
            ]
        )

    def output(self):
        return "{{" + self.pick(["", "-", "+"]) + " " + self.expr() + " " + self.pick(["", "-"]) + "}}"

    def target(self):
        return self.pick(["x", "y", "x", "s", "ns.v", "x, y", "n", "ns.v, x"])

    def loop_head(self):
        r = self.r
        head = self.pick(
            [
                "for x in " + self.expr(2),
                "for x in lst",
                "for m in msgs",
                "for x, y in d.items()",
                "for x in names",
                "for x, y in " + self.expr(1),
                "for x in msgs|map(attribute='role')",
                "for loop_ in range(3)",
            ]
        )
        if r.random() < 0.25:
            head += " if " + self.expr(2)
        return head

    def statement(self, depth, in_loop):
        body = lambda inner=in_loop: self.body(depth - 1, inner)  # noqa: E731
        t = self.tag
        options = [
            lambda: t(f"if {self.expr()}")
            + body()
            + self.pick(["", t(f"elif {self.expr(2)}") + body()])
            + self.pick(["", t("else") + body()])
            + t("endif"),
            lambda: t(self.loop_head()) + body(True) + self.pick(["", t("else") + body()]) + t("endfor"),
            lambda: t(f"set {self.target()} = {self.expr()}"),
            lambda: t(f"set {self.pick(['x', 'y'])}{self.pick(['', '|upper', '|trim|title'])}")
            + body()
            + t("endset"),
            lambda: t(f"macro mac({self.pick(['', 'p', 'p, q=1', 'p=n, q=p', 'x, *y'])})")
            + body(False)
            + self.pick(["", "{{ p }}{{ q }}", "{{ varargs }}{{ kwargs }}", "{{ caller() }}"])
            + t("endmacro"),
            lambda: t(f"call{self.pick(['', '(v)'])} mac({self.pick(['', '1'])})")
            + body(False)
            + t("endcall"),
            lambda: t("filter " + self.pick(["upper", "trim", "replace(' ', '_')", "indent|upper"]))
            + body()
            + t("endfilter"),
            lambda: t(f"with {self.pick(['x = ' + self.expr(2), 'x = 1, y = x', ''])}")
            + body()
            + t("endwith"),
            lambda: t("generation") + body(False) + t("endgeneration"),
            lambda: t("for x in [1, [2, [3]]] recursive")
            + "{{ loop.depth }}{{ loop(x) if x is iterable else x }}"
            + body(True)
            + t("endfor"),
            lambda: t("set ns = namespace(v=0)"),
            lambda: t(f"set ns.v = {self.expr(2)}"),
        ]
        if in_loop or self.r.random() < 0.02:
            options += [lambda: t("break"), lambda: t("if " + self.expr(1)) + t("continue") + t("endif")]
        return self.pick(options)()

    def body(self, depth, in_loop=False):
        out = ""
        for _ in range(self.r.randint(0, 3)):
            out += self.text()
            out += self.statement(depth, in_loop) if depth > 0 and self.r.random() < 0.45 else self.output()
        return out + self.text()

    def template(self):
        return self.body(self.r.randint(0, 3)) or self.output()
