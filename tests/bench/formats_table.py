"""One model in several formats, side by side: size, perplexity and speed, as the table of docs/choosing_a_format.md.

usage: formats_table.py MODEL.gguf FOLDER [TEXT [CALIBRATION]]

Converts MODEL into FOLDER (what is there already is used again), then measures each form through the same pipeline,
which differs in nothing but the model's path. Needs MORTISE_BIN, MORTISE_SOURCE and PYTHONPATH as tests have them."""
import json
import pathlib
import statistics
import sys

from harness import mortise, settings

FORMS = [("gguf-f32", "F32.gguf", {}), ("gguf-f16", "F16.gguf", {}), ("safetensors-bf16", "bf16", {}),
         ("gguf-q8_0", "Q8_0.gguf", {}), ("gguf-q4_k", "Q4_K.gguf", {}), ("awq", "awq-nearest", {"group_size": 64}),
         ("awq", "awq-aware", {"group_size": 64, "calibration": True})]
TESTS = ["prefill:256", "decode:32"]


def run(*args):
    done = mortise(*args, timeout=3600)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def size_mb(path):
    files = path.iterdir() if path.is_dir() else [path]
    return sum(f.stat().st_size for f in files) / 1e6


def measured(model, text):
    found = json.loads(run("run", "perplexity", "-m", model, *settings(
        plugin__perplexity__text=str(text), plugin__perplexity__tokens=2048, plugin__perplexity__output="json")))
    lines = run("run", "bench", "-m", model, *settings(plugin__bench__output="jsonl", plugin__bench__tests=TESTS))
    speeds = [json.loads(line) for line in lines.splitlines()]
    medians = [statistics.median(s["tokens_per_s"] for s in speeds if s["test"] == test) for test in TESTS]
    return found["perplexity"], medians


def main():
    source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = sys.argv[3] if len(sys.argv) > 3 else "/usr/share/common-licenses/GPL-3"
    calibration = sys.argv[4] if len(sys.argv) > 4 else "/usr/share/common-licenses/Apache-2.0"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(source.stem.split(".")[-1] + " (source)", source)]
    for to, name, options in FORMS:
        out = folder / name
        if not out.exists():
            if "calibration" in options:
                options = {**options, "calibration": calibration}
            run("run", "convert", "-m", source, *settings(plugin__convert__to=to, plugin__convert__output=str(out), **{
                f"plugin__convert__{key}": value for key, value in options.items()}))
        rows.append((name.removesuffix(".gguf"), out))
    print("| form | MB | perplexity | prompt of 256, tokens/s | decode, tokens/s |\n|---|---|---|---|---|")
    for name, path in rows:
        perplexity, (prefill, decode) = measured(path, text)
        print(f"| {name} | {size_mb(path):.0f} | {perplexity:.3f} | {prefill:.0f} | {decode:.1f} |", flush=True)


main()
