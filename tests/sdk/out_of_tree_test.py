"""The examples as their readers would build them: out of tree, against nothing but an installed SDK.

usage: out_of_tree_test.py [EXAMPLE...]

Thread rule: one thread. Flow: run by CTest. Installs the SDK into an empty prefix, copies each example elsewhere,
builds it there in an environment that knows only the prefix, puts the plugin into a folder, and lets the host's binary,
whose sha256 must stay the same, list it and use it.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ['MORTISE_SOURCE'])
BUILD = pathlib.Path(os.environ['MORTISE_BUILD'])
MORTISE = pathlib.Path(os.environ['MORTISE_BIN'])
# Sanitized hosts load sanitized plugins only where the runtime comes first; an author's compiler knows none of that.
CLEAN = {'PATH': '/usr/bin:/bin', 'HOME': '/nonexistent', 'LC_ALL': 'C.UTF-8'}


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300,
                          **{'env': CLEAN, **more})
    assert done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout}{done.stderr}'
    return done.stdout


def build(name, place, prefix):
    """Copies and builds an example; the folder that holds its plugin."""
    shutil.copytree(SOURCE / 'examples' / name, place / name)
    run('cmake', '-S', place / name, '-B', place / name / 'build', f'-DCMAKE_PREFIX_PATH={prefix}')
    run('cmake', '--build', place / name / 'build')
    cache = (place / name / 'build/CMakeCache.txt').read_text()
    assert str(SOURCE) not in cache, f'{name} was built against the source tree'
    return place / name / 'build/lib/mortise'


def listed(folder):
    """(rows of the plugins in `folder`, what was refused there)."""
    report = json.loads(run(MORTISE, 'plugins', '--json', '--plugins', folder))
    return ([row for row in report['plugins'] if row['path'].startswith(str(folder))],
            [row for row in report['refused'] if row['path'].startswith(str(folder))])


def check_listed(folder, kind, name):
    rows, refused = listed(folder)
    assert not refused, refused
    assert [(row['kind'], row['name']) for row in rows] == [(kind, name)], rows


def main():
    before = hashlib.sha256(MORTISE.read_bytes()).hexdigest()
    with tempfile.TemporaryDirectory() as text:
        place = pathlib.Path(text).resolve()
        prefix = place / 'prefix'
        run('cmake', '--install', BUILD, '--prefix', prefix, '--component', 'sdk')
        for name, kind, plugin in (('sampler-c', 'sampler', 'top_a'), ('frontend-lines', 'frontend', 'lines')):
            check_listed(build(name, place, prefix), kind, plugin)
            print(f'{name}: built against the prefix and listed')
    assert hashlib.sha256(MORTISE.read_bytes()).hexdigest() == before, "the host's binary changed"


if __name__ == '__main__':
    sys.exit(main())
