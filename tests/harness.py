"""Runs the program for tests: requests in, answers out. Thread rule: none. Flow: imported by every Python test that
needs a running pipeline. PYTHONPATH has the tests folder (tests/cmake/MortiseTest.cmake)."""
import json, os, pathlib, subprocess, sys

BIN = os.environ["MORTISE_BIN"]
SOURCE = pathlib.Path(os.environ["MORTISE_SOURCE"])
DATA = SOURCE / "tests/data"
MODELS = pathlib.Path(os.environ.get("MORTISE_MODELS", SOURCE / "models"))
SMOLLM2 = MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"
QWEN = MODELS / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
SKIP = 77  # exit status of a test that lacks its model
SAMPLE = "MORTISE_SAMPLE" in os.environ  # a build with sanitizers, where all takes some ten times as long
SLOWER = 10 if SAMPLE else 1


def fixture(name):
    """A tiny GGUF model and its golden values."""
    path = DATA / "fixtures/gguf" / f"{name}.gguf"
    return path, json.loads(path.with_suffix("").with_suffix(".golden.json").read_text())


def mortise(*args, stdin=None, timeout=300, env=None):
    """The finished process of `mortise ARGS`."""
    return subprocess.run([BIN, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=timeout * SLOWER,
                          env={**os.environ, **(env or {})})


def settings(**values):
    """`--set` arguments; a double underscore stands for a dot: kv__dtype="f32"."""
    out = []
    for key, value in values.items():
        out += ["--set", key.replace("__", ".") + "=" + (value if isinstance(value, str) else json.dumps(value))]
    return out


def jsonl(model, requests, *args, config="jsonl", timeout=300, **sets):
    """Answers by id; every request gets one, and nothing is said on standard error."""
    text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in requests)
    run = mortise("run", config, "-m", model, *settings(**sets), *args, stdin=text, timeout=timeout)
    assert run.returncode == 0, f"exit {run.returncode}: {run.stderr}"
    assert run.stderr == "", run.stderr
    answers = [json.loads(line) for line in run.stdout.split("\n") if line]
    out = {a["id"]: a for a in answers if "delta" not in a}
    assert len(out) == len(requests), f"{len(requests)} requests, {len(out)} answers"
    return out


def block_bytes(model, **sets):
    """Bytes of a KV block of 16 tokens, as explain says."""
    run = mortise("explain", "jsonl", "-m", model, *settings(**sets), "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)["memory"]["kv_bytes_per_token"] * 16


class Checks:
    """Counts failures, so that a test shows all of them; `done` ends the process."""

    def __init__(self):
        self.count = self.failures = 0

    def that(self, good, *what):
        self.count += 1
        if not good:
            self.failures += 1
            print("FAILED:", *what, flush=True)

    def done(self):
        print(f"{self.count} checks, {self.failures} failed")
        if self.count == 0:
            print("no check ran")
        sys.exit(1 if self.failures or self.count == 0 else 0)
