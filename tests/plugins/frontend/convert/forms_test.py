"""SmolLM2 in four forms, widened or rounded from the one file that is there: four pipelines that differ in one line
answer the same question, and the two that hold the same values agree in perplexity."""
import pathlib
import tempfile

from harness import SAMPLE, SMOLLM2, Checks, mortise

from conversion import converted, perplexity

PIPELINE = """\
model.path = "{path}"
use.frontend = ["stdio"]
use.sampler = ["temperature"]
plugin.stdio.mode = "text"
defaults.temperature = 0.0
"""
FORMS = {"gguf-f16": {}, "safetensors-bf16": {}, "awq": {"plugin__convert__group_size": 64}, "gguf-q8_0": {}}
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
TOKENS = 128 if SAMPLE else 1024

checks = Checks()
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    pipelines, found = [], {}
    for form, options in FORMS.items():
        path = converted(checks, SMOLLM2, form, scratch / f"smollm2-{form}", **options)
        pipeline = scratch / f"{form}.toml"
        pipeline.write_text(PIPELINE.format(path=path))
        pipelines.append(pipeline.read_text().splitlines())
        run = mortise("run", pipeline, "What is the capital of France?")
        checks.that(run.returncode == 0 and "Paris" in run.stdout and run.stderr == "", form, run.stdout, run.stderr)
        if form in ("gguf-f16", "safetensors-bf16"):
            found[form] = perplexity(path, TEXT, TOKENS)
    for other in pipelines[1:]:
        checks.that(sum(a != b for a, b in zip(pipelines[0], other)) == 1, "pipelines differ in one line")
    ratio = found["gguf-f16"] / found["safetensors-bf16"]
    checks.that(abs(ratio - 1) < 1e-3, "F16 and bf16", found)
checks.done()
