"""The layout of everything that crosses the plugin boundary, locked in abi_lock.txt.

usage: abi_lock.py INCLUDE_FOLDER LOCK [CC]          compares; exit status 1 where they differ
       abi_lock.py INCLUDE_FOLDER LOCK [CC] --write  writes LOCK anew, where the rules allow it

Thread rule: one thread. Flow: run by CTest; by hand after a change of a header. Locked are, per C header: its interface
ids, each struct's size, each field's offset, size and declaration, each enumerator's value, and function types.

Rules. A draft header (its ids begin with mortise.draft.) may change in any way if its number is raised in the same
change. A frozen header (no draft id) may only grow: new lines, and a larger size of a struct, at its tail.
"""
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

STRUCT = re.compile(r'(?:typedef )?struct (\w+) \{([^{}]*)\}')
ENUM = re.compile(r'enum(?: \w+)? \{([^{}]*)\}')
FUNCTION = re.compile(r'typedef [\w \*]+? (\w+)\([^;]*\);')
IDENTIFIER = re.compile(r'#define (MORTISE_\w*ID|MORTISE_ABI) (.+)')


def plain(text):
    """The text without comments and without directives other than those that IDENTIFIER finds."""
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.DOTALL)
    return re.sub(r'^\s*#(?!define MORTISE_(?:\w*ID|ABI) )(?:[^\n]*\\\n)*[^\n]*', '', text, flags=re.MULTILINE)


def squeeze(text):
    return re.sub(r'\s+', ' ', text).strip()


def field_names(declaration):
    """The names that a field's declaration declares: a function pointer's, an array's, or several in a list."""
    pointer = re.match(r'[^(]*\(\*\s*(?:const\s+)?(\w+)(?:\[\w*\])?\)\s*\(', declaration)
    if pointer:
        return [pointer.group(1)]
    return [re.search(r'(\w+)\s*(?:\[[^\]]*\])?\s*$', part).group(1) for part in declaration.split(',')]


def enumerators(body):
    return [entry.split('=')[0].strip() for entry in body.split(',') if entry.strip()]


def describe(header, text):
    """C statements that print the header's lines of the lock."""
    code = plain(text)
    lines = [f'puts("== {header}");']
    for name, value in IDENTIFIER.findall(code):
        lines.append(f'puts({quoted(f"id {name} {value.strip()}")});')
    for name, body in STRUCT.findall(code):
        lines.append(f'printf("struct {name} size %zu align %zu\\n", sizeof({name}), _Alignof({name}));')
        for declaration in filter(None, map(squeeze, body.split(';'))):
            for field in field_names(declaration):
                lines.append(f'printf("  %4zu %4zu %s\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}), '
                             f'{quoted(declaration)});')
    for body in ENUM.findall(code):
        lines += [f'printf("enum {name} %lld\\n", (long long){name});' for name in enumerators(body)]
    lines += [f'puts({quoted(squeeze(match.group(0)))});' for match in FUNCTION.finditer(code)]
    return lines


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def layout(folder, cc='cc'):
    """The lock's text for the headers in folder/mortise."""
    headers = sorted(folder.glob('mortise/*.h'))
    statements = [line for header in headers for line in describe(header.name, header.read_text(encoding='utf-8'))]
    program = ''.join(f'#include <mortise/{header.name}>\n' for header in headers) + '#include <stdio.h>\n'
    program += 'int main(void) {\n' + '\n'.join(statements) + '\nreturn 0;\n}\n'
    with tempfile.TemporaryDirectory() as place:
        binary = pathlib.Path(place, 'layout')
        command = [cc, '-std=gnu11', '-x', 'c', '-w', f'-I{folder}', '-o', binary, '-']
        subprocess.run(command, input=program, text=True, check=True)
        return subprocess.run([binary], capture_output=True, text=True, check=True).stdout


def sections(text):
    """Header -> its lines."""
    found = {}
    for part in re.split(r'^== ', text, flags=re.MULTILINE)[1:]:
        name, *lines = part.splitlines()
        found[name] = lines
    return found


def ids(lines):
    return [line for line in lines if line.startswith('id ')]


def grew_only(old, new):
    """True where every old line stands, in order; a struct's size line may show a larger number."""
    def key(line):
        return re.sub(r'(struct \w+ size) \d+', r'\1', line)
    rest = iter(map(key, new))
    return all(line in rest for line in map(key, old))


def verdict(old, new):
    """(what is wrong, may the lock be written anew) of one header's change."""
    if old is None:
        return 'is not in the lock yet', True
    if new is None:
        return 'is gone; a frozen header is served for ever, a draft one goes with its number', True
    if any('mortise.draft.' in line for line in ids(old)):
        if ids(old) == ids(new):
            return 'changed: raise the interface\'s number (mortise.draft.X/N), for plugins match it exactly', False
        return 'changed, and so did its number', True
    if grew_only(old, new):
        return 'grew', True
    return 'is frozen and may only grow at a struct\'s tail: take the change back, or make a /2 beside it', False


def compare(locked, now):
    """Prints what differs; (number of differing headers, may the lock be written anew)."""
    old, new, differing, allowed = sections(locked), sections(now), 0, True
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) == new.get(name):
            continue
        text, good = verdict(old.get(name), new.get(name))
        print(f'sdk/include/mortise/{name} {text}')
        for line in difflib.unified_diff(old.get(name, []), new.get(name, []), 'locked', 'now', lineterm='', n=0):
            print('  ' + line)
        differing += 1
        allowed = allowed and good
    return differing, allowed


def tail_padding(now):
    """Structs that begin with `size` and end in padding, where a field added later could not be told from garbage."""
    for block in re.split(r'^struct ', now, flags=re.MULTILINE)[1:]:
        head, *fields = block.splitlines()
        fields = [line for line in fields if line.startswith('  ')]
        end = sum(map(int, fields[-1].split()[:2]))
        if fields[0].endswith(' uint32_t size') and end != int(head.split()[2]):
            yield f'struct {head.split()[0]} ends in {int(head.split()[2]) - end} bytes of padding: name them reserved'


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--write']
    folder, lock = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    now = layout(folder, *arguments[2:])
    padded = list(tail_padding(now))
    if padded:
        print(*padded, sep='\n')
        return 1
    differing, allowed = compare(lock.read_text(encoding='utf-8') if lock.exists() else '', now)
    if not differing:
        print(f'{len(sections(now))} headers as locked')
        return 0
    if '--write' not in sys.argv:
        print(f'Then: python3 {sys.argv[0]} {folder} {lock} --write')
        return 1
    if not allowed:
        print('The lock stays as it is.')
        return 1
    lock.write_text(now, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
