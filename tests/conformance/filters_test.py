"""Pins that cannot hold, and denials that leave nothing: exit 2 and one line that names the filter, for every filter of
the order of choice, before a byte of weights is used. Kernels that meet each filter: tests/plugins/faulty_kernels."""
import pathlib
import re
import tempfile

from harness import Checks, fixture, mortise, settings
from kernels import FAULTY, chosen, explain, reasons

checks = Checks()
tiny, tied = fixture("llama-q8_0")[0], fixture("llama3rope-q8_0")[0]
PIN_A = '{ "gguf.q8_0" = "kernel_a" }'


def refused(what, names, model=tiny, **sets):
    """Both commands refuse the pipeline with exit 2 and a line that holds all of `names`."""
    for command in ("run", "explain"):
        out = mortise(command, "jsonl", "-m", model, "--plugins", FAULTY, *settings(**sets), stdin="")
        line = out.stderr
        checks.that(out.returncode == 2 and out.stdout == "", command, what, out.returncode, line, out.stdout[:99])
        checks.that(line.startswith("mortise: error: ") and line.count("\n") == 1, command, what, repr(line))
        place = re.match(r"mortise: error: --set ([\w.]+): ", line)
        checks.that(place is None or not line[place.end():].startswith(place[1] + ": "), "the key stands once", line)
        for name in names:
            checks.that(name in line, command, what, "should name", name, ":", line)


# Each hard filter: the pin names it, and without the pin the kernel loses with that reason.
FILTERS = (
    ("isa", {"plugin__kernel_a__isa": '"magic512"'}, "isa: the processor lacks magic512", {}),
    ("device", {"plugin__kernel_a__device": '"cuda"'}, "device: runs on cuda", {}),
    ("accepts", {"plugin__kernel_a__fault": '"accepts"'}, "accepts: ", {}),
    ("format", {"plugin__kernel_a__format": '"gguf.q4_1/1"'}, "format: claims gguf.q4_1/1", {}),
    ("deterministic", {"plugin__kernel_a__batch_invariant": "false"}, "deterministic: not batch-invariant",
     {"engine__deterministic": "true"}),
    ("features", {"plugin__kernel_a__features": "3"}, "features: ", {"model": tied}))
for name, kernel, reason, more in FILTERS:
    model = more.pop("model", tiny)
    refused(name, ["--set kernels.pin", "gguf.q8_0", "kernel_a", reason], model, kernels__pin=PIN_A, **kernel, **more)
    report = explain(model, "--plugins", FAULTY, **kernel, **more)
    checks.that(any(r.startswith(reason) for r in reasons(report)["kernel_a"]), name, reasons(report))
    if name != "features":  # only the tied table needs them
        checks.that(chosen(report) == {"kernel_b"}, name, chosen(report))

# Names that nobody has, and pins of what a plugin does not offer.
refused("unknown plugin", ["kernels.pin", "kernel_x", "kernel_a"], kernels__pin='{ "gguf.q8_0" = "kernel_x" }')
refused("unknown format", ["kernels.pin", "'gguf.q8_'", "gguf.q8_0"], kernels__pin='{ "gguf.q8_" = "kernel_a" }')
refused("unknown denied", ["kernels.deny", "referense", "reference"], kernels__deny='["referense"]')
refused("ops plugin for a weight", ["kernels.pin", "does not offer"],
        kernels__pin='{ "mortise.norm" = "kernel_a" }')

# Denials: all, all by name, and a denied pin.
refused("deny all", ["--set kernels.deny", "deny"], kernels__deny='["*"]')
refused("deny by name", ["--set kernels.deny", "reference (deny: kernels.deny names it)"],
        kernels__deny='["kernel_a", "kernel_b", "reference"]')
refused("deny the pinned", ["--set kernels.pin", "kernels.deny names it"], kernels__pin=PIN_A,
        kernels__deny='["kernel_a"]')
report = explain(tiny, "--plugins", FAULTY, kernels__deny='["kernel_a"]')
checks.that(chosen(report) == {"kernel_b"} and "deny" in " ".join(reasons(report)["kernel_a"]), "deny", reasons(report))

# Of pins the most specific holds: format and tensor, format, any.
report = explain(tiny, "--plugins", FAULTY, kernels__pin='{ "*" = "reference", "gguf.q8_0" = "kernel_b", '
                                                         '"gguf.q8_0@blk.0.*" = "kernel_a" }')
for row in report["kernels"]:
    want = "kernel_a" if row["tensor"].startswith("blk.0.") else "kernel_b"
    checks.that(row["plugin"] == want and "pin" in row["why"], "pins", row)

# In a file the place is line and column.
path = pathlib.Path(tempfile.mkdtemp(prefix="mortise-filters-")) / "p.toml"
for text, line in (('pin = { "gguf.q8_0" = "kernel_x" }', 5), ('deny = ["*"]', 5)):
    path.write_text(f'[use]\nfrontend = ["stdio"]\n\n[kernels]\n{text}\n')
    out = mortise("explain", path, "-m", tiny, "--plugins", FAULTY)
    checks.that(out.returncode == 2 and f"{path}:{line}:" in out.stderr, text, out.stderr)
checks.done()
