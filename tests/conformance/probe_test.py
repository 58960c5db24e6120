"""The probe at load: a kernel that computes wrongly is dropped with a warning that says what was wrong, and the answer
is right all the same; a pinned one ends the start. explain does not probe. Kernels: tests/plugins/faulty_kernels."""
import json

from harness import Checks, fixture, mortise, settings
from kernels import FAULTY, agree, answers, chosen, explain, reasons
from compare import F32

checks = Checks()
tiny, golden = fixture("llama-q8_0")
tied = fixture("llama3rope-q8_0")[0]
REQUEST = {"id": 1, "tokens": golden["cases"][1]["ids"], "max_tokens": 12, "temperature": 0, "ignore_eos": True}
ALONE = {"kernels__deny": '["kernel_b"]', "kv__dtype": '"f32"'}


def run(model, **sets):
    return mortise("run", "jsonl", "-m", model, "--plugins", FAULTY, *settings(**sets),
                   stdin=json.dumps(REQUEST) + "\n")


def tokens(out):
    return json.loads(out.stdout)["tokens"]


# A right foreign kernel that claims the format itself wins over the shipped one of any format; a pin overrides.
report = explain(tiny, "--plugins", FAULTY)
checks.that(chosen(report) == {"kernel_a"}, "exact before any", chosen(report))
checks.that(report["batch_invariant"] is True, "invariant", report["batch_invariant"])
checks.that(all("claims the format itself" in r for r in reasons(report)["reference"]), reasons(report))
checks.that(all("first by name" in r for r in reasons(report)["kernel_b"]), reasons(report))
report = explain(tiny, "--plugins", FAULTY, kernels__pin='{ "*" = "reference" }')
checks.that(chosen(report) == {"reference"}, "a pin overrides", chosen(report))
tuned = explain(tiny, "--plugins", FAULTY, plugin__kernel_b__tier='"tuned"')
checks.that(chosen(tuned) == {"kernel_b"}, "tier before name", chosen(tuned))
right = answers("llama-q8_0", "--plugins", FAULTY, kv__dtype="f32")
reference = answers("llama-q8_0", kv__dtype="f32")
agree(checks, "kernel_a and reference", "llama-q8_0", right, reference, F32)
want = tokens(run(tiny, kernels__pin='{ "*" = "reference" }', **ALONE))

# Wrong ones.
FAULTS = (("row", "row 5 gives"), ("batch", "gives"), ("nan", "row 5 gives"), ("unpack", "is gathered with other bits"),
          ("pack", "pack failed"), ("bind", "bind failed"))
for fault, reason in FAULTS:
    model = tied if fault == "unpack" else tiny
    sets = {"plugin__kernel_a__fault": f'"{fault}"', **ALONE}
    report = explain(model, "--plugins", FAULTY, **sets)
    checks.that(chosen(report) == {"kernel_a"}, fault, "explain probed", chosen(report))
    out = run(model, **sets)
    lines = out.stderr.splitlines()
    checks.that(out.returncode == 0 and len(lines) == 1, fault, out.returncode, out.stderr)
    checks.that("warning" in out.stderr and "'kernel_a'" in out.stderr and reason in out.stderr, fault, out.stderr)
    if model is tiny:
        checks.that(tokens(out) == want, fault, "the answer", out.stdout)
    out = run(model, kernels__pin='{ "gguf.q8_0" = "kernel_a" }', **sets)
    checks.that(out.returncode == 2 and out.stdout == "", fault, "pinned", out.returncode, out.stderr)
    checks.that(out.stderr.startswith("mortise: error: --set kernels.pin: ") and reason in out.stderr
                and out.stderr.count("\n") == 1, fault, "pinned", out.stderr)

# The next candidate takes the place of a dropped one, and is probed in turn.
both = {"plugin__kernel_a__fault": '"row"', "plugin__kernel_b__fault": '"batch"', "kv__dtype": '"f32"'}
out = run(tiny, **both)
checks.that(out.returncode == 0 and tokens(out) == want, "both wrong", out.stderr)
checks.that([name in line for line, name in zip(out.stderr.splitlines(), ("kernel_a", "kernel_b"))] == [True, True],
            "both wrong", out.stderr)

# A kernel that does not keep batch invariance.
loose = {"plugin__kernel_a__batch_invariant": "false", **ALONE}
report = explain(tiny, "--plugins", FAULTY, **loose)
checks.that(chosen(report) == {"kernel_a"} and report["batch_invariant"] is False, "loose", chosen(report))
report = explain(tiny, "--plugins", FAULTY, engine__deterministic="true", **loose)
checks.that(chosen(report) == {"reference"} and report["batch_invariant"] is True, "asked for", chosen(report))
checks.that(reasons(report)["kernel_a"] == {"deterministic: not batch-invariant"}, reasons(report))
report = explain(tiny, "--plugins", FAULTY, kernels__pin='{ "gguf.q8_0" = "kernel_a" }', **loose)
checks.that(report["batch_invariant"] is False, "pinned", report["batch_invariant"])
checks.done()
