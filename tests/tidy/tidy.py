"""Holds the house rules of the source tree: sizes, folders, names, includes, first comments, banned words.

usage: tidy.py [ROOT]     prints `file:line: rule: what to do` for each violation; exit status 1 where there is one

Thread rule: one thread. Flow: run by CTest over the whole tree, and by tidy_test.py over trees with planted violations.
Tables of data (`.inc`), test data and the licence are exempt.
"""
import pathlib
import re
import subprocess
import sys

from cpp_text import code_of, first_comment, functions

TOP = {'.ci', '.clang-format', '.clang-tidy', '.gitignore', 'CHANGELOG.md', 'CMakeLists.txt', 'CMakePresets.json',
       'CONTRIBUTING.md', 'LICENSE', 'README.md', 'check', 'configs', 'docs', 'examples', 'plugins', 'quickstart',
       'runtime', 'sdk', 'tests'}
EXEMPT = ('tests/data/', 'LICENSE', 'tests/fuzz/corpus/')
LINES = {'.h': 200, '.cc': 300, '.c': 300, '.py': 300}
FUNCTION_LINES = 70
COLUMNS = {'.h': 110, '.cc': 110, '.c': 110, '.py': 120, '.cmake': 120, '.sh': 140, '.toml': 140}

# Names that the host must not know: formats, model families, and every plugin's own.
FOREIGN = ['gguf', 'ggml', 'safetensors', 'awq', 'gptq', 'q[2-8]_[01k]', 'llama', 'qwen', 'mistral', 'mixtral',
           'gemma', 'smollm', 'phi-?[234]', 'falcon', 'deepseek', 'gpt-?2', 'gpt-?oss', 'chatml', 'byte-level']
# Plugins whose names are words that the host needs in their plain sense.
PLAIN_WORDS = {'bench', 'decoder', 'flash', 'naive', 'paged', 'reference', 'script', 'scripted', 'tokenize', 'http'}

PRINTING = re.compile(r'(?<![\w:.>])(?:std::)?(?:v?printf|puts|putchar)\s*\(|\bstd(?:out|err)\b'
                      r'|std::c(?:out|err|log)\b')
# Front ends, the program itself, and what stands between the host and a terminal.
MAY_PRINT = ('plugins/frontend/', 'runtime/main', 'runtime/host/log.', 'runtime/host/progress.', 'examples/frontend')
BANNED = [
    (re.compile(r'\bstd::w?regex\b|#\s*include\s*<regex>'), 'std::regex', 'use PCRE2 or a scanner: it is slow and its '
     'stack overflows'),
    (re.compile(r'(?<![\w.>])(?:std::|::)?(?:abort|exit|quick_exit|terminate)\s*\('), 'ends the process',
     'return an error; only main ends the process'),
    (re.compile(r'\busing\s+namespace\s+std\b'), 'using namespace std', 'write std::'),
    (re.compile(r'\b(?:strcpy|strcat|sprintf|gets|strtok)\s*\('), 'unsafe call',
     'use a bounded form that reports errors'),
]
UNFINISHED = re.compile(r'\b(?:TO' r'DO|FIX' r'ME|XX' r'X|HA' r'CK)\b')
PLACES = re.compile(r'(?<![\w.])/(?:wo' r'rk|ro' r'ot|ho' r'me/\w+)/'
                    r'|py' r'pi\.org|pythonho' r'sted|deb\.deb' r'ian\.org')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
TEST_NAME = re.compile(r'\bTEST_CASE\(\s*"([^"]*)"')


def files_of(root):
    """Paths relative to root: what git knows or would add; without git, all but build output."""
    listed = subprocess.run(['git', '-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                            capture_output=True, text=True) if (root / '.git').exists() else None
    if listed is not None and listed.returncode == 0:
        names = [name for name in listed.stdout.split('\0') if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob('*') if path.is_file() or path.is_symlink()]
    skip = re.compile(r'^(build|models|\.git)/|(^|/)__pycache__/')
    return sorted(name for name in set(names) if not skip.match(name) and
                  ((root / name).is_file() or (root / name).is_symlink()))


def line_at(text, position):
    return text.count('\n', 0, position) + 1


def check_top(name):
    if name.split('/')[0] not in TOP:
        yield 1, 'top level', 'move it into one of the folders of the layout'


def check_sizes(name, text):
    suffix = pathlib.PurePath(name).suffix
    lines = text.splitlines()
    if len(lines) > LINES.get(suffix, len(lines)):
        yield LINES[suffix] + 1, 'file length', f'{len(lines)} lines; split it at {LINES[suffix]} or fewer'
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS.get(suffix, len(line)):
            yield number, 'line length', f'{len(line)} columns; break it at {COLUMNS[suffix]}'
    if suffix in ('.h', '.cc', '.c'):
        for first, count in functions(text):
            if count > FUNCTION_LINES:
                yield first, 'function length', f'{count} lines; split it into parts of at most {FUNCTION_LINES}'


def check_name(name):
    path = pathlib.PurePath(name)
    if path.suffix in ('.h', '.cc', '.c', '.py', '.inc') and not re.fullmatch(r'[a-z0-9_]+', path.stem):
        yield 1, 'file name', 'use snake_case'


def says_rules(root, name, text):
    """True where the first comment says thread rule and flow, or names a header beside it that does."""
    comment = re.sub(r'\s*\n\s*(?://|\*)?\s*', ' ', first_comment(text))
    if 'Thread rule:' in comment and 'Flow:' in comment:
        return True
    beside = [root / pathlib.PurePath(name).with_name(header) for header in re.findall(r'\w+\.h\b', comment)]
    return name.endswith('.cc') and any(path.is_file() and says_rules(root, path.name, path.read_text(encoding='utf-8'))
                                        for path in beside)


def check_first_comment(root, name, text):
    suffix = pathlib.PurePath(name).suffix
    if suffix in ('.h', '.cc', '.c'):
        if not says_rules(root, name, text):
            yield 1, 'first comment', ('begin with what it is, "Thread rule: ..." and "Flow: ..."; a source may name '
                                       'the header beside it that says them')
    elif suffix == '.py':
        if not re.match(r'(#!.*\n)?("""|#)', text):
            yield 1, 'first comment', 'begin with a docstring: what it is and how it is used'
    elif suffix in ('.cmake', '.sh') and not re.match(r'(#!.*\n)?# ', text):
        yield 1, 'first comment', 'begin with a comment: what it is and who uses it'


def own_folders(name):
    """Folders, relative to the root, in which the quoted includes of a file may be found."""
    parts = name.split('/')
    if parts[0] == 'runtime':
        return ['runtime'], 'runtime/ includes itself and the SDK'
    if parts[0] == 'plugins' and parts[1] == 'common':
        return ['plugins/common'], 'shared code includes itself and the SDK'
    if parts[0] == 'plugins':
        return ['/'.join(parts[:3]), 'plugins/common'], 'a plugin includes itself, plugins/common and the SDK'
    if parts[0] == 'examples':
        return ['/'.join(parts[:2])], 'an example includes itself and the SDK'
    return ['sdk/include'], 'the SDK includes only itself, as <mortise/...>'


def check_includes(root, name, text):
    if name.split('/')[0] not in ('sdk', 'runtime', 'plugins', 'examples'):
        return
    folders, advice = own_folders(name)
    here = pathlib.PurePath(name).parent
    for match in INCLUDE.finditer(text):
        bracket, target = match.groups()
        where = line_at(text, match.start(1))
        if '..' in target.split('/') or target.startswith(('plugins/', 'runtime/', 'sdk/')):
            yield where, 'include', f'{target}: {advice}'
        elif bracket == '"':
            places = [root / folder / target for folder in folders] + [root / here / target]
            allowed = [(root / folder).resolve() for folder in folders]
            found = [place for place in places if place.is_file()]
            if not found or not any(folder in found[0].resolve().parents for folder in allowed):
                yield where, 'include', f'{target}: {advice}'
        elif target.startswith('mortise/') and not (root / 'sdk/include' / target).is_file():
            yield where, 'include', f'{target}: no such header of the SDK'


def check_banned(name, text):
    suffix = pathlib.PurePath(name).suffix
    for match in UNFINISHED.finditer(text):
        yield line_at(text, match.start()), 'unfinished', f'{match.group(0)}: finish it, or say what is so and why'
    for match in PLACES.finditer(text):
        yield line_at(text, match.start()), 'place', f'{match.group(0)}: name no machine path and no registry host'
    if suffix not in ('.h', '.cc', '.c') or name.split('/')[0] not in ('sdk', 'runtime', 'plugins', 'examples'):
        return
    code = code_of(text)
    for pattern, what, advice in BANNED:
        for match in pattern.finditer(code):
            yield line_at(code, match.start()), what, advice
    if not name.startswith(MAY_PRINT):
        for match in PRINTING.finditer(code):
            yield line_at(code, match.start()), 'prints', "return it, or use the host's log"


def foreign_names(names):
    plugins = {name.split('/')[2] for name in names if re.match(r'plugins/(?!common/)[^/]+/[^/]+/', name)}
    words = sorted({re.escape(plugin) for plugin in plugins - PLAIN_WORDS} | set(FOREIGN))
    return re.compile(r'(?<![A-Za-z])(?:' + '|'.join(words) + r')(?![A-Za-z])', re.IGNORECASE)


def check_tree(root):
    names = files_of(root)
    foreign = foreign_names(names)
    for plugin in sorted({'/'.join(name.split('/')[:3]) for name in names if name.count('/') > 2 and
                          name.startswith('plugins/') and not name.startswith('plugins/common/')}):
        if f'{plugin}/README.md' not in names:
            yield plugin, 1, 'plugin readme', 'write README.md: what it is, its limits, its trust'
    for name in names:
        yield from ((name, *found) for found in check_top(name))
        if (root / name).is_symlink():
            yield name, 1, 'link', 'commit the file itself: a link may lead out of the tree'
            continue
        if name.startswith(EXEMPT) or name.endswith('.inc'):
            continue
        try:
            text = (root / name).read_text(encoding='utf-8')
        except UnicodeDecodeError:
            continue  # data
        for found in (*check_name(name), *check_sizes(name, text), *check_first_comment(root, name, text),
                      *check_includes(root, name, text), *check_banned(name, text)):
            yield name, *found
        if name.startswith('runtime/'):
            for match in foreign.finditer(text):
                yield (name, line_at(text, match.start()), 'foreign name',
                       f'{match.group(0)}: the host knows kinds, never a format, family or plugin')
        if name.startswith('tests/') and name.endswith('.cc'):
            for match in TEST_NAME.finditer(text):
                if not re.fullmatch(r"[A-Za-z0-9 _:,.'+-]+", match.group(1)):
                    yield (name, line_at(text, match.start()), 'test name',
                           f"{match.group(1)}: use letters, digits, blanks and _:,.'+- only")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    count = 0
    for name, line, rule, advice in check_tree(root):
        print(f'{name}:{line}: {rule}: {advice}')
        count += 1
    print(f'{count} violations' if count else 'tidy')
    return 1 if count else 0


if __name__ == '__main__':
    sys.exit(main())
