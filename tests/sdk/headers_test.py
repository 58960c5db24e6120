"""Every header of the SDK compiles alone: the C ones as C11, C++17 and C++20, the C++ ones as C++20.

usage: headers_test.py INCLUDE_FOLDER [COMPILER...]     compilers: pairs of C and C++ programs, e.g. gcc g++

Thread rule: one thread starts as many compilers as there are cores. Flow: run by CTest. Each header is included twice,
so a missing guard is seen too; a planted header that needs another one first must fail.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

STRICT = ['-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-pedantic-errors']


def compile_alone(compiler, language, standard, folders, header):
    """The compiler's messages, or '' where it takes the header."""
    command = [compiler, '-x', language, f'-std={standard}', *STRICT, *[f'-I{folder}' for folder in folders], '-']
    text = f'#include <{header}>\n#include <{header}>\n'
    return subprocess.run(command, input=text, capture_output=True, text=True).stderr


def jobs(folder, compilers):
    for header in sorted(folder.glob('mortise/**/*.h')):
        name = str(header.relative_to(folder))
        for cc, cxx in compilers:
            if '/cpp/' in name:
                yield cxx, 'c++', 'c++20', name
            else:
                yield cc, 'c', 'c11', name
                yield cxx, 'c++', 'c++17', name
                yield cxx, 'c++', 'c++20', name


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sys.argv[2:] or ['gcc', 'g++']
    todo = list(jobs(folder, list(zip(names[::2], names[1::2]))))
    assert len(todo) > 20, f'{folder} holds too few headers: {len(todo)} jobs'
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compile_alone(*job[:3], [folder], job[3]), todo))
    failed = [(job, text) for job, text in zip(todo, results) if text]
    for (compiler, _, standard, name), text in failed:
        print(f'{name}: does not compile alone with {compiler} -std={standard}:\n{text}')
    with tempfile.TemporaryDirectory() as planted:
        path = pathlib.Path(planted, 'planted.h')
        path.write_text('#pragma once\nmortise_str needs_base;\n')
        assert compile_alone(names[0], 'c', 'c11', [folder, planted], 'planted.h'), 'a planted fault was not seen'
    print(f'{len(todo)} compilations, {len(failed)} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
