"""The examples as their readers would build them: out of tree, against nothing but an installed SDK.

usage: out_of_tree_test.py

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
MODEL = SOURCE / 'tests/data/fixtures/gguf/llama-f16.gguf'
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


def answer(pipeline, folder, *requests, text=None, options=()):
    """What `mortise run` prints for these requests (JSON lines) or this text; its output lines."""
    given = text if text is not None else ''.join(json.dumps(request) + '\n' for request in requests)
    out = run(MORTISE, 'run', pipeline, '--plugins', folder, *options, input=given)
    return out.splitlines() if text is not None else [json.loads(line) for line in out.splitlines()]


def use_sampler(folder, place):
    """top_a, named in TOML and set per request, cuts what it says: p >= a * p_max^2."""
    pipeline = place / 'pipeline.toml'
    pipeline.write_text(f'[model]\npath = "{MODEL}"\n[use]\nfrontend = ["stdio"]\nsampler = ["temperature", "top_a"]\n'
                        '[plugin.stdio]\nmode = "jsonl"\n')

    def below(top_a):
        requests = [{'id': seed, 'prompt': 'the cat', 'max_tokens': 1, 'temperature': 1, 'seed': seed,
                     'top_logprobs': 1, 'top_a': top_a} for seed in range(40)]
        drawn = [line['logprobs'][0] for line in answer(pipeline, folder, *requests) if line['logprobs']]
        assert len(drawn) > 30, f'only {len(drawn)} of 40 requests drew a token'
        return sum(token['logprob'] < 2 * token['top'][0][1] - 1e-4 for token in drawn)
    assert below(0.0) > 0 and below(1.0) == 0, (below(0.0), below(1.0))
    bad, = answer(pipeline, folder, {'id': 1, 'prompt': 'x', 'top_a': 1.5})
    assert bad['finish_reason'] == 'error' and bad['error']['param'] == 'top_a', bad


def use_frontend(folder, place):
    """lines, put in the place of stdio by --set, continues each line."""
    pipeline = place / 'lines.toml'
    pipeline.write_text(f'[model]\npath = "{MODEL}"\n[defaults]\nmax_tokens = 3\n[plugin.lines]\nmark = "> "\n')
    lines = answer(pipeline, folder, text='the cat\nsat', options=['--set', 'use.frontend=["lines"]'])
    assert sum(line.startswith('> ') for line in lines) == 2, lines


def use_kernel(folder, place):
    """The pinned kernel wins its format's weights, and its logits differ from the reference's by rounding at most."""
    weights = MODEL.with_name('llama-q8_0.gguf')
    common = ['-m', weights, '--plugins', folder]
    pin = ['--set', 'kernels.pin={ "gguf.q8_0" = "q8_0-blocks" }']
    plan = json.loads(run(MORTISE, 'explain', 'jsonl', *common, *pin, '--json'))
    chosen = {row['plugin'] for row in plan['kernels'] if row['format'].startswith('gguf.q8_0')}
    assert chosen == {'q8_0-blocks'}, plan['kernels']

    def scores(*options):
        request = json.dumps({'id': 1, 'prompt': 'the cat sat', 'max_tokens': 8, 'temperature': 0, 'top_logprobs': 20})
        line = json.loads(run(MORTISE, 'run', 'jsonl', *common, *options, input=request + '\n'))
        return [value for token in line['logprobs'] for _, value in token['top']]
    ours = scores(*pin)
    reference = scores('--set', 'kernels.pin={ "gguf.q8_0" = "reference" }')
    worst = max(abs(a - b) for a, b in zip(ours, reference, strict=True))
    assert ours != reference and worst < 1e-2, worst


def use_arch(folder, place):
    """A family that no plugin of the host's has: its golden logits, out of a folder that the host alone refuses."""
    model = SOURCE / 'tests/data/families_of_examples/olmo'
    options = ['-m', model, '--set', 'use.tokenizer="none"']
    alone = subprocess.run([str(MORTISE), 'run', 'jsonl', *map(str, options)], input='', capture_output=True, text=True,
                           timeout=300, env=CLEAN)
    assert alone.returncode == 1 and 'olmo' in alone.stderr, alone.stderr
    case = json.loads((model / 'golden.json').read_text())['cases'][2]
    request = {'id': 1, 'tokens': case['ids'], 'max_tokens': 16, 'temperature': 0, 'ignore_eos': True,
               'top_logprobs': 20}
    exact = ['--set', 'kv.dtype="f32"', '--set', 'kernels.pin={ "*" = "reference" }']
    line, = answer('jsonl', folder, request, options=[*options, *exact])
    golden = {token: value - case['logsumexp'] for token, value in zip(case['top32_ids'], case['top32_logits'])}
    worst = max(abs(golden[token] - value) for token, value in line['logprobs'][0]['top'])
    assert line['tokens'] == case['greedy16'] and worst < 1e-3 * case['std'], (worst, line['tokens'])


EXAMPLES = [('sampler-c', 'sampler', 'top_a', use_sampler), ('linear-q8_0', 'linear', 'q8_0-blocks', use_kernel),
            ('frontend-lines', 'frontend', 'lines', use_frontend), ('arch-olmo', 'arch', 'olmo', use_arch)]


def main():
    before = hashlib.sha256(MORTISE.read_bytes()).hexdigest()
    with tempfile.TemporaryDirectory() as text:
        place = pathlib.Path(text).resolve()
        prefix = place / 'prefix'
        run('cmake', '--install', BUILD, '--prefix', prefix, '--component', 'sdk')
        for name, kind, plugin, use in EXAMPLES:
            folder = build(name, place, prefix)
            check_listed(folder, kind, plugin)
            use(folder, place)
            print(f'{name}: built against the prefix, listed and used')
    assert hashlib.sha256(MORTISE.read_bytes()).hexdigest() == before, "the host's binary changed"


if __name__ == '__main__':
    sys.exit(main())
