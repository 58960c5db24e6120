"""What `cmake --install` leaves is whole: the program finds the plugins and pipelines of its own prefix.

Thread rule: one thread. Flow: run by CTest, after a build of everything.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ['MORTISE_SOURCE'])
CLEAN = {'PATH': '/usr/bin:/bin', 'HOME': '/nonexistent', 'LC_ALL': 'C.UTF-8'}


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, env=CLEAN,
                          **more)
    assert done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout}{done.stderr}'
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder).resolve() / 'prefix'
        run('cmake', '--install', os.environ['MORTISE_BUILD'], '--prefix', prefix)
        mortise = prefix / 'bin/mortise'
        paths = {pathlib.Path(row['path']).parent for row in json.loads(run(mortise, 'plugins', '--json'))['plugins']}
        assert paths == {prefix / 'lib/mortise'}, paths
        installed = {path.name for path in (prefix / 'share/mortise/configs').glob('*.toml')}
        assert installed == {path.name for path in (SOURCE / 'configs').glob('*.toml')}, installed
        answer = json.loads(run(mortise, 'run', 'jsonl', '-m', SOURCE / 'tests/data/fixtures/gguf/llama-f16.gguf',
                                input='{"id": 1, "prompt": "the cat", "max_tokens": 2}\n', cwd=folder))
        assert answer['finish_reason'] in ('length', 'stop'), answer
        strays = [path for path in prefix.rglob('*') if path.is_file() and path.relative_to(prefix).parts[0] not in
                  ('bin', 'include', 'lib', 'share')]
        assert not strays, strays
        for path in prefix.rglob('*'):
            if path.suffix in ('.cmake', '.h', '.toml', '.map'):
                assert str(SOURCE) not in path.read_text(encoding='utf-8'), f'{path} names the source tree'


if __name__ == '__main__':
    sys.exit(main())
