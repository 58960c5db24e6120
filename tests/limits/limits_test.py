"""docs/limits.md against the sources: every constant that is named as a limit has a row with its value and its file,
and no row outlives its constant; so have the ranges of the pipeline file's keys.

usage: limits_test.py [--list]   --list prints the rows that the sources ask for

Thread rule: one thread. Flow: run by CTest. A limit is a constexpr integer whose name ends in Max or begins with kMax.
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ('runtime', 'plugins', 'sdk/include')
TYPE = r'(?:u?int(?:8|16|32|64)_t|size_t|int|unsigned|long)'
DECLARATION = re.compile(r'constexpr ' + TYPE + r' (k[^;]*);')
LIMIT = re.compile(r'\bk(?:Max[A-Z]\w*|\w*Max)$')
UNITS = {'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30}
KEY = re.compile(r'KEY\("(\w+)", "(\w+)", MORTISE_INT, [^,]*, "(\[[^"]*\])"')


def number(text):
    """The value of a C++ constant expression of numbers; None where it names something else."""
    text = re.sub(r"(?<=\d)'(?=\d)", '', ' '.join(text.split()))
    text = re.sub(TYPE + r'\{(\w+)\}', r'\1', text)
    text = re.sub(r'\b(0x[0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2})\b', r'\1', text)
    return int(eval(text, {})) if re.fullmatch(r'[\s0-9a-fA-Fx()*+<-]+', text) else None


def constants(root):
    """(name, file) -> value, of every integer constant."""
    out = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*')):
            if path.suffix not in ('.h', '.cc', '.c', '.inc'):
                continue
            text = re.sub(r'//[^\n]*', '', path.read_text())
            for declaration in DECLARATION.findall(text):
                for part in declaration.split(','):
                    name, _, value = part.partition('=')
                    if value and number(value) is not None:
                        out[name.strip(), str(path.relative_to(root))] = number(value)
    return out


def rows(page):
    """(name, file) -> value of the page's tables: | `kName` | value | unit | what happens | `file` |."""
    out = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if len(cells) != 5 or not re.fullmatch(r'`k\w+`', cells[0]):
            continue
        key = cells[0].strip('`'), cells[4].strip('`')
        assert key not in out, f'{key} stands twice'
        assert cells[3], f'{key}: what happens?'
        out[key] = int(cells[1].replace(' ', '')) * UNITS.get(cells[2].split()[0], 1)
    return out


def problems(root, page):
    """What is wrong with the page, a line each."""
    known, told = constants(root), rows(page)
    for key, value in known.items():
        if LIMIT.match(key[0]) and key not in told:
            yield f'no row for {key[0]} = {value} of {key[1]}'
    for key, value in told.items():
        if key not in known:
            yield f'{key[1]} has no constant {key[0]}'
        elif known[key] != value:
            yield f'{key[0]} of {key[1]} is {known[key]}, not {value}'
    keys = (root / 'runtime/config/keys.inc').read_text()
    for table, name, allowed in KEY.findall(keys):
        if f'| `{table}.{name}` | `{allowed}` |' not in page:
            yield f'no row for {table}.{name} with {allowed}'


def planted():
    """The test itself: each kind of fault is found."""
    row = '| `kRowsMax` | 2 | KiB | refused | `runtime/a.h` |\n'
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / 'runtime/config').mkdir(parents=True)
        (root / 'runtime/config/keys.inc').write_text('KEY("kv", "n", MORTISE_INT, "1", "[1,9]", nullptr, "")\n')
        key = '| `kv.n` | `[1,9]` |\n'
        for source, page, count in (
                ('constexpr size_t kRowsMax = 2 << 10;', row + key, 0),
                ("constexpr uint64_t kRowsMax = uint64_t{2'048};  // 1", row + key, 0),
                ('constexpr uint32_t kCols = 1, kRowsMax = 2048u;', row + key, 0),
                ('constexpr size_t kRowsMax = 2 << 11;', row + key, 1),
                ('constexpr size_t kRowsMax = 2 << 10, kMaxCols = 3;', row + key, 1),
                ('', row + key, 1),
                ('constexpr size_t kRowsMax = 2 << 10;', row, 1)):
            (root / 'runtime/a.h').write_text(source)
            found = list(problems(root, page))
            assert len(found) == count, (source, page, found)


def main():
    planted()
    if '--list' in sys.argv:
        for (name, file), value in sorted(constants(ROOT).items(), key=lambda item: item[0][::-1]):
            if LIMIT.match(name):
                print(f'| `{name}` | {value} | | | `{file}` |')
        return 0
    found = list(problems(ROOT, (ROOT / 'docs/limits.md').read_text()))
    print('\n'.join(found) or f'{len(rows((ROOT / "docs/limits.md").read_text()))} limits, all as the page says')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
