"""explain: the keys of its JSON, memory computed by hand, warnings, patterns of equal weights, and that it needs
nothing but a file's header."""
import json
import os
import pathlib
import subprocess
import tempfile

from harness import BIN, SMOLLM2, Checks, fixture, mortise, settings
from gguf_edit import header

MEMORY = ["weights_bytes", "kv_bytes_per_token", "kv_bytes", "activations_bytes", "logits_bytes", "workspace_bytes",
          "total_bytes"]
KEYS = {"": ["parts", "kernels", "memory", "context", "fits", "batch_invariant", "warnings"], "memory": MEMORY,
        "context": ["model", "used"], "fits": ["tokens", "sequences"]}
PEAK_BYTES_MAX = 32 << 20  # that explain takes for a model of 98 MB above what it takes for a tiny one
KINDS = ["frontend", "weights", "tokenizer", "sampler", "arch", "ops", "attention"]
checks = Checks()
tiny, _ = fixture("llama-q8_0")


def explain(model, config="jsonl", **sets):
    run = mortise("explain", config, "-m", model, *settings(**sets), "--json")
    assert run.returncode == 0 and run.stderr == "", run.stderr
    return json.loads(run.stdout)


def data_bytes(path):
    """Bytes of all tensors, as the file holds them."""
    with open(path, "rb") as file:
        return os.path.getsize(path) - header(file.read(8 << 20))[2]


def check_keys(what, report):
    for key, want in KEYS.items():
        got = list(report[key] if key else report)
        checks.that(got == want, what, key, "keys", got)
    for row in report["parts"]:
        checks.that(list(row) == ["kind", "name", "plugin", "why"] and row["why"], what, row)
    for row in report["kernels"]:
        checks.that(list(row) == ["tensor", "format", "plugin", "why", "candidates"] and row["why"], what, row)
        checks.that(all(list(c) == ["plugin", "reason"] and c["reason"] for c in row["candidates"]), what, row)
        checks.that(row["plugin"] in [c["plugin"] for c in row["candidates"]], what, row)


def check_memory(what, model, layers, kv_heads, head_dim, vocab, report, value_bytes):
    memory = report["memory"]
    per_token = 2 * layers * kv_heads * head_dim * value_bytes
    checks.that(memory["kv_bytes_per_token"] == per_token, what, "KV of a token", memory, per_token)
    blocks = (512 << 20) // (16 * per_token)  # kv.memory's default
    blocks = min(blocks, 1 << 18)
    checks.that(memory["kv_bytes"] == blocks * 16 * per_token, what, "KV", memory, blocks)
    checks.that(report["fits"]["tokens"] == blocks * 16, what, "fits", report["fits"])
    checks.that(report["fits"]["sequences"] == blocks * 16 // report["context"]["used"], what, "fits", report["fits"])
    data = data_bytes(model)
    checks.that(abs(memory["weights_bytes"] - data) <= 0.03 * data, what, "weights", memory["weights_bytes"], data)
    checks.that(memory["logits_bytes"] == 32 * vocab * 4, what, "logits", memory["logits_bytes"])
    summed = sum(memory[k] for k in MEMORY if k not in ("kv_bytes_per_token", "total_bytes"))
    checks.that(memory["total_bytes"] == summed, what, "total", memory)
    checks.that(memory["activations_bytes"] > 0 and memory["workspace_bytes"] > 0, what, memory)


for name in ("llama-f16", "llama-q8_0", "llama-q4_k_m", "llama3rope-q8_0", "qwen2-q5_0"):
    path, golden = fixture(name)
    hf = golden["hf_config"]
    shape = (hf["num_hidden_layers"], hf["num_key_value_heads"], hf["hidden_size"] // hf["num_attention_heads"],
             hf["vocab_size"])
    for dtype, value_bytes in (("f32", 4), ("f16", 2), ("bf16", 2)):
        report = explain(path, kv__dtype=dtype)
        check_keys(name, report)
        check_memory(f"{name} {dtype}", path, *shape, report, value_bytes)
    checks.that(report["context"] == {"model": 512, "used": 512} and report["warnings"] == [], name, report["warnings"])
    checks.that(report["batch_invariant"] is True, name, "batch_invariant")
report = explain(SMOLLM2)
check_keys("smollm2", report)
check_memory("smollm2", SMOLLM2, 30, 3, 64, 49152, report, 2)
checks.that(report["context"] == {"model": 8192, "used": 8192}, "smollm2", report["context"])

# Parts in the order of a pipeline, each kind named; equal weights in one row.
kinds = [row["kind"] for row in report["parts"]]
checks.that(all(kind in kinds for kind in KINDS), "kinds", kinds)
checks.that(all(row["plugin"] for row in report["parts"]), "plugins", report["parts"])
ops = [row["name"] for row in report["parts"] if row["kind"] == "ops"]
checks.that(len(ops) == len(set(ops)) > 3 and all("/" in op for op in ops), "ops", ops)
tensors = [(row["tensor"], row["format"]) for row in report["kernels"]]
checks.that(len(tensors) == len(set(tensors)) and len(tensors) <= 20, "grouped", tensors)
checks.that(("blk.*.ffn_up.weight", "gguf.q4_1/1") in tensors, "pattern", tensors)
checks.that(("token_embd.weight", "gguf.q8_0/1") in tensors, "the tied head", tensors)

# The context: more than the model was trained for is a warning, less is none.
report = explain(tiny, model__context=513)
checks.that(report["context"] == {"model": 512, "used": 513} and len(report["warnings"]) == 1, report["warnings"])
checks.that("513" in report["warnings"][0] and "512" in report["warnings"][0], "context", report["warnings"])
for pin, warned in (("gguf.q8_0@blk.*.attn_q.weight", False), ("gguf.q8_0@blk.*.atn_q.weight", True),
                    ("gguf.q4_0", False)):
    report = json.loads(mortise("explain", "jsonl", "-m", fixture("llama-q8_0")[0], "--json",
                                "--set", f'kernels.pin={{ "{pin}" = "reference" }}').stdout)
    checks.that(any(pin in w for w in report["warnings"]) == warned, "an idle pin", pin, report["warnings"])
report = explain(tiny, model__context=100, kv__memory="64 KiB")
checks.that(report["context"]["used"] == 100 and report["fits"] == {"tokens": 256, "sequences": 2}, report["fits"])
checks.that(report["warnings"] == [], "no warning", report["warnings"])
report = explain(tiny, kv__memory="64 KiB")
checks.that(len(report["warnings"]) == 1 and "kv.memory holds 256 tokens" in report["warnings"][0], report["warnings"])

# The same for people: the terms of the formula stand there.
text = mortise("explain", "jsonl", "-m", SMOLLM2).stdout
checks.that("2 x 30 layers x 3 KV heads x 64 head size x 2 bytes (f16)" in text, "terms", text)
checks.that("Batch-invariant: yes" in text and "blk.*.ffn_up.weight" in text, "text", text)

# A front end that needs no engine: no kernels, and the keys are all there.
report = explain(SMOLLM2, config="tokenize")
check_keys("tokenize", report)
checks.that(report["kernels"] == [] and report["memory"]["total_bytes"] == 0, "tokenize", report["memory"])
checks.that("attention" not in [row["kind"] for row in report["parts"]], "tokenize", report["parts"])

# Nothing but the header: a file whose data are holes, and one that ends; little memory.
place = pathlib.Path(tempfile.mkdtemp(prefix="mortise-explain-"))
want = explain(SMOLLM2)
with open(SMOLLM2, "rb") as file:
    start = header(file.read(8 << 20))[2]
    file.seek(0)
    head = file.read(start)
for what, size in (("holes", SMOLLM2.stat().st_size), ("ends", start)):
    path = place / SMOLLM2.name
    path.write_bytes(head)
    os.truncate(path, size)
    report = explain(path)
    warnings = report.pop("warnings")
    checks.that(report == {k: v for k, v in want.items() if k != "warnings"}, what, report["memory"])
    checks.that(len(warnings) == (what == "ends"), what, warnings)
peaks = []
for path in (tiny, SMOLLM2):
    process = subprocess.Popen([BIN, "explain", "jsonl", "-m", path], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    checks.that(status == 0, "explain", path, status)
    peaks.append(usage.ru_maxrss * 1024)
checks.that(peaks[1] - peaks[0] < PEAK_BYTES_MAX, "peak", peaks)
checks.done()
