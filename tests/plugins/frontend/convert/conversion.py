"""Runs conversions for the tests of `convert`. Thread rule: none. Flow: imported by them."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "golden"))

import compare  # noqa: E402
from harness import jsonl, mortise, settings  # noqa: E402


def convert(model, to, output, **more):
    return mortise("run", "convert", "-m", model,
                   *settings(plugin__convert__to=to, plugin__convert__output=str(output), **more))


def converted(checks, model, to, output, **more):
    """The output's path, or None where the conversion failed, which is counted."""
    run = convert(model, to, output, **more)
    checks.that(run.returncode == 0 and run.stderr == "", to, model, run.stderr)
    return output if run.returncode == 0 else None


def check_golden(checks, what, model, cases):
    """A tiny model against its golden cases, float32 row."""
    requests = compare.greedy_requests(cases) + compare.score_requests(cases)
    answers = jsonl(model, requests, kv__dtype="f32", use__tokenizer="none")
    compare.check_cases(checks, what, answers, cases, compare.F32)


def cases_of(folder):
    return json.loads((folder / "golden.json").read_text())["cases"]


def perplexity(model, text, tokens):
    run = mortise("run", "perplexity", "-m", model, *settings(
        plugin__perplexity__text=str(text), plugin__perplexity__tokens=tokens, plugin__perplexity__output="json"))
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)["perplexity"]
