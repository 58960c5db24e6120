"""What the tests of swapping and choosing share: the installation's bytes, test kernels, fixtures' answers under two
settings. Thread rule: none. Flow: imported by swap, filters and probe tests."""
import hashlib
import json
import os
import pathlib
import sys

from harness import BIN, SOURCE, fixture, jsonl, mortise, settings

sys.path.insert(0, str(SOURCE / "tests/golden"))
from compare import argmax_share, greedy_requests, score_requests  # noqa: E402

BUILD = pathlib.Path(os.environ["MORTISE_BUILD"])
FAULTY = BUILD / "tests/faulty"  # kernel_a and kernel_b, see tests/plugins/faulty_kernels
INSTALLED = (pathlib.Path(BIN).parent, BUILD / "lib/mortise")


def installation():
    """sha256 of every file of the program and its plugins."""
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for folder in INSTALLED for path in sorted(folder.rglob("*")) if path.is_file()}


def explain(model, *args, **sets):
    run = mortise("explain", "jsonl", "-m", model, *settings(**sets), *args, "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def chosen(report):
    """The linear plugins that explain names, over all weights."""
    return {row["plugin"] for row in report["kernels"]}


def reasons(report):
    """Candidate -> its reasons, over all weights."""
    out = {}
    for row in report["kernels"]:
        for candidate in row["candidates"]:
            out.setdefault(candidate["plugin"], set()).add(candidate["reason"])
    return out


def answers(name, *args, **sets):
    """The golden cases of a fixture, answered under these settings."""
    model, golden = fixture(name)
    return jsonl(model, greedy_requests(golden["cases"]) + score_requests(golden["cases"]), *args, **sets)


def agree(checks, what, name, one, other, tolerance):
    """Two sets of answers lie as near to each other as the fixtures' table asks."""
    for i, case in enumerate(fixture(name)[1]["cases"]):
        top = [dict(map(tuple, got[f"g{i}"]["logprobs"][0]["top"])) for got in (one, other)]
        worst = max(abs(top[0][t] - top[1][t]) for t in top[0] if t in top[1]) / case["std"]
        checks.that(len(set(top[0]) & set(top[1])) >= 15 and worst < tolerance["logits"], what, "logits", worst)
        if case["n"] > 1:
            likeliest = {"argmax_each_position": [r["top"][0][0] for r in one[f"e{i}"]["logprobs"][1:]]}
            share = argmax_share(other[f"e{i}"], likeliest)
            checks.that(share >= tolerance["argmax"], what, "argmax", share)
