"""abi_lock.py itself: plants changes of headers and sees each judged rightly.

usage: abi_lock_test.py INCLUDE_FOLDER

Thread rule: one thread. Flow: run by CTest, over a copy of the real headers.
"""
import contextlib
import io
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import abi_lock

# header, text, replacement, (does the lock differ, may it be written anew), a word of the message
CHANGES = [
    ('sampler.h', '/* The candidates', '/* These candidates', (False, True), ''),
    ('sampler.h', 'uint32_t vocab;', 'uint32_t words;', (True, False), 'raise'),
    ('sampler.h', 'uint32_t vocab;', 'int32_t vocab;', (True, False), 'raise'),
    ('sampler.h', 'uint32_t token);', 'uint64_t token);', (True, False), 'raise'),
    ('sampler.h', 'MORTISE_ROW_SORTED = 2', 'MORTISE_ROW_SORTED = 4', (True, False), 'raise'),
    ('sampler.h', 'const void* random;\n}', 'const void* random;\n  void* more;\n}', (True, False), 'raise'),
    ('sampler.h', 'draft.sampler/1', 'draft.sampler/2', (True, True), 'number'),
    ('base.h', 'char message[768];', 'char message[512];', (True, False), 'frozen'),
    ('base.h', 'char message[768];', 'char message[768];\n  uint64_t line;', (True, True), 'grew'),
    ('base.h', 'MORTISE_INTERNAL = 10', 'MORTISE_INTERNAL = 10, MORTISE_DENIED = 11', (True, True), 'grew'),
    ('base.h', 'MORTISE_INTERNAL = 10', 'MORTISE_INTERNAL = 11', (True, False), 'frozen'),
    ('host.h', 'uint32_t task, uint32_t worker', 'uint32_t worker, uint32_t task', (True, False), 'frozen'),
    ('host.h', 'uint64_t (*now_ns)(void* ctx);', '', (True, False), 'frozen'),
]


def main():
    original = pathlib.Path(sys.argv[1])
    locked = abi_lock.layout(original)
    assert 'struct mortise_sampler size' in locked and 'enum MORTISE_OK 0' in locked
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place, 'include')
        shutil.copytree(original, copy)
        for header, text, replacement, expected, word in CHANGES:
            path = copy / 'mortise' / header
            before = path.read_text(encoding='utf-8')
            assert text in before, f'{header} has no {text!r} any more: plant another change'
            path.write_text(before.replace(text, replacement, 1), encoding='utf-8')
            with contextlib.redirect_stdout(io.StringIO()) as said:
                differing, allowed = abi_lock.compare(locked, abi_lock.layout(copy))
            path.write_text(before, encoding='utf-8')
            assert (differing == 1, allowed) == expected and word in said.getvalue(), (header, replacement,
                                                                                      said.getvalue())
        path = copy / 'mortise/sampler.h'
        path.write_text(path.read_text().replace('const void* random;\n}', 'const void* random;\n  uint32_t odd;\n}'))
        assert any('mortise_sample_row ends in 4 bytes' in line
                   for line in abi_lock.tail_padding(abi_lock.layout(copy)))
    print(f'{len(CHANGES)} planted changes judged')


if __name__ == '__main__':
    main()
