"""Plants a violation of each tidy rule in a temporary tree and sees it caught, alone and at its line.

usage: tidy_test.py

Thread rule: one thread. Flow: run by CTest; a rule that finds nothing any more fails here.
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cpp_text
import tidy

HEAD = '// A part. Thread rule: pure. Flow: nowhere.\n'
LONG_FUNCTION = 'int f(int x) {\n' + '  ++x;\n' * 69 + '  return x;\n}\n'

# name, text, line, rule. The file is added to a tree that is tidy without it.
PLANTED = [
    ('tools/x.sh', '# A tool.\n', 1, 'top level'),
    ('sdk/include/mortise/long.h', HEAD + '\n' * 200, 201, 'file length'),
    ('runtime/host/long.cc', HEAD + '\n' * 300, 301, 'file length'),
    ('tests/host/long_test.py', '"""A test."""\n' + '\n' * 300, 301, 'file length'),
    ('runtime/host/wide.cc', HEAD + '// ' + 'x' * 108 + '\n', 2, 'line length'),
    ('runtime/host/f.cc', HEAD + LONG_FUNCTION, 2, 'function length'),
    ('runtime/host/f.cc', HEAD + 'namespace a {\nstruct B {\n' + LONG_FUNCTION + '};\n}\n', 4, 'function length'),
    ('runtime/host/f.cc', HEAD + 'B::B(int x) : a_{x}, b_{"}"} {\n' + '  f("{");\n' * 69 + '}\n', 2,
     'function length'),
    ('runtime/host/CamelCase.cc', HEAD, 1, 'file name'),
    ('runtime/host/bare.cc', 'int x;\n', 1, 'first comment'),
    ('runtime/host/bare.h', '/* A part. Thread rule: pure. */\n', 1, 'first comment'),
    ('runtime/host/bare.cc', '// A part: see absent.h.\n', 1, 'first comment'),
    ('tests/host/bare.py', 'import sys\n', 1, 'first comment'),
    ('sdk/cmake/bare.cmake', 'set(x y)\n', 1, 'first comment'),
    ('plugins/sampler/other/a.cc', HEAD + '#include "../top_k/top_k.h"\n', 2, 'include'),
    ('plugins/sampler/other/a.cc', HEAD + '#include "top_k.h"\n', 2, 'include'),
    ('plugins/sampler/other/a.cc', HEAD + '#include "host/part.h"\n', 2, 'include'),
    ('runtime/host/a.cc', HEAD + '#include <plugins/linear/one/one.h>\n', 2, 'include'),
    ('runtime/host/a.cc', HEAD + '#include <mortise/absent.h>\n', 2, 'include'),
    ('sdk/include/mortise/a.h', HEAD + '#include "base.h"\n#include "host/part.h"\n', 3, 'include'),
    ('examples/mine/a.cc', HEAD + '#include "host/part.h"\n', 2, 'include'),
    ('runtime/host/a.cc', HEAD + 'std::regex r;\n', 2, 'std::regex'),
    ('plugins/sampler/top_k/a.cc', HEAD + 'void f() { std::abort(); }\n', 2, 'ends the process'),
    ('runtime/host/a.cc', HEAD + 'void f() { exit(1); }\n', 2, 'ends the process'),
    ('runtime/host/a.cc', HEAD + 'using namespace std;\n', 2, 'using namespace std'),
    ('runtime/host/a.cc', HEAD + 'void f(char* x) { strcpy(x, y); }\n', 2, 'unsafe call'),
    ('runtime/host/a.cc', HEAD + 'void f() { std::cout << 1; }\n', 2, 'prints'),
    ('plugins/sampler/top_k/a.cc', HEAD + 'void f() { printf("x"); }\n', 2, 'prints'),
    ('plugins/sampler/top_k/a.cc', HEAD + 'void f() { fputs("x", stderr); }\n', 2, 'prints'),
    ('runtime/host/a.cc', HEAD + '// TO' 'DO: later\n', 2, 'unfinished'),
    ('tests/host/a.py', '"""A test."""\n# FIX' 'ME\n', 2, 'unfinished'),
    ('docs/a.md', 'see\n/wo' 'rk/main\n', 2, 'place'),
    ('docs/a.md', 'https://py' 'pi.org/x\n', 1, 'place'),
    ('runtime/host/a.cc', HEAD + 'int gguf_size;\n', 2, 'foreign name'),
    ('runtime/host/a.cc', HEAD + '// as in Qwen2\n', 2, 'foreign name'),
    ('runtime/host/a.cc', HEAD + '// "top_k" samples\n', 2, 'foreign name'),
    ('plugins/sampler/bare/plugin.cc', HEAD, 1, 'plugin readme'),
    ('tests/host/a_test.cc', HEAD + 'TEST_CASE("a; b") {}\n', 2, 'test name'),
]

# What a careless rule would take for a violation.
HARMLESS = [
    ('runtime/host/a.cc', '// A part: its middle. Thread rule and flow: see part.h.\n'),
    ('runtime/host/a.cc', HEAD + '// never abort() or printf() here\nconst char* x = "std::cout";\n'),
    ('runtime/host/a.cc', HEAD + 'struct A {\n' + '  int f() { return 1; }\n' * 100 + '};\n'),
    ('runtime/host/a.cc', HEAD + 'constexpr int kTable[] = {\n' + '  1,\n' * 100 + '};\n'),
    ('runtime/host/a.cc', HEAD + '#define M(x) \\\n' + '  f(x); { \\\n' * 80 + '  g(x)\n'),
    ('runtime/host/a.cc', HEAD + 'int f() {\n' + '  ++x;\n' * 68 + '}\n'),
    ('runtime/host/a.cc', HEAD + 'auto s = R"(TEXT: { " )";\nint x = 1\'000;\nchar c = \'{\';\n'),
    ('runtime/host/a.cc', HEAD + 'void f(FILE* out) { std::fprintf(out, "x"); std::snprintf(b, 1, "x"); }\n'),
    ('plugins/frontend/bench/a.cc', HEAD + 'void f() { std::puts("x"); }\n'),
    ('plugins/sampler/top_k/b.inc', 'x' * 300 + '\n'),
    ('tests/data/cases/x.py', 'x' * 300 + '\n'),
    ('build/x/y.cc', 'x' * 300 + '\n'),
    ('runtime/host/a.cc', HEAD + 'int wallpaper, exit_code; on_exit_(); thread.abort();\n'),
    ('plugins/sampler/top_k/deep/c.cc', HEAD + '#include "top_k.h"\n#include <mortise/base.h>\n#include <regex.h>\n'),
]

BASE = {
    'sdk/include/mortise/base.h': HEAD,
    'runtime/host/part.h': HEAD,
    'runtime/host/part.cc': HEAD + '#include "host/part.h"\n',
    'plugins/sampler/top_k/README.md': '# top_k\n',
    'plugins/sampler/top_k/top_k.h': HEAD + '#include <mortise/base.h>\n',
    'plugins/sampler/other/README.md': '# other\n',
    'plugins/frontend/bench/README.md': '# bench\n',
    'examples/mine/README.md': '# mine\n',
}


def violations(added):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**BASE, **added}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')
        return list(tidy.check_tree(root))


def main():
    assert violations({}) == [], violations({})
    for name, text, line, rule in PLANTED:
        found = [(where, rule) for _, where, rule, _ in violations({name: text})]
        assert found == [(line, rule)], f'{name}: planted {rule} at {line}, found {found}\n{text[:200]}'
    for name, text in HARMLESS:
        found = violations({name: text})
        assert not found, f'{name}: harmless, found {found}\n{text[:200]}'
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, 'docs').symlink_to('/')
        assert [rule for *_, rule, _ in tidy.check_tree(pathlib.Path(folder))] == ['link']
    lengths = list(cpp_text.functions(HEAD + 'int a() { return 1; }\n\nvoid b() noexcept\n    {\n  c([] {\n  });\n}\n'))
    assert lengths == [(2, 1), (4, 5)], lengths
    print(f'{len(PLANTED)} planted violations caught, {len(HARMLESS)} harmless texts passed over')


if __name__ == '__main__':
    main()
