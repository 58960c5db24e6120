"""What explain says of memory for Qwen2-7B against figures made by hand: Q4_K_M, AWQ and bf16 weights, 8k context, 16
and 32 sequences, KV in f32 and f16. Of the models only the headers are there. Flow: run by CTest; header_models.py
makes the files."""
import json
import os
import pathlib
import tempfile

import header_models
from harness import Checks, mortise, settings

CONTEXT, ROWS, WANTED = 8192, 512, 32  # ROWS: engine.max_batch_tokens; WANTED: rows whose logits are made at once
LAYERS, KV_HEADS, HEAD, HIDDEN, INNER, VOCAB = 28, 4, 128, 3584, 18944, 152064
PACKED_MAX = 1.03  # of the file's bytes, the bound that kernels keep
checks = Checks()

# Norms (two a layer and the last) and biases of q, k and v are kept as float32, whatever the file has.
VECTORS = (2 * LAYERS + 1) * HIDDEN + LAYERS * (HIDDEN + 2 * KV_HEADS * HEAD)
LINEARS = LAYERS * (2 * HIDDEN * HIDDEN + 2 * HIDDEN * KV_HEADS * HEAD + 3 * HIDDEN * INNER)
TABLES = 2 * VOCAB * HIDDEN  # the embedding and the head
# Q6_K takes 210 bytes for 256 weights, Q4_K 144: v and ffn_down of 14 layers (3 first, 4 last, 7 of those between), the
# head.
Q6_WEIGHTS = 14 * (HIDDEN * KV_HEADS * HEAD + HIDDEN * INNER) + VOCAB * HIDDEN
WEIGHTS = {"gguf": Q6_WEIGHTS * 210 // 256 + (LINEARS + TABLES - Q6_WEIGHTS) * 144 // 256 + 4 * VECTORS,
           "awq": LINEARS // 2 + LINEARS // 128 * 5 // 2 + 2 * TABLES + 4 * VECTORS,  # a half and 4 bits a group of 128
           "bf16": 2 * (LINEARS + TABLES) + 4 * VECTORS}
# In the MLP a row holds the residual, its norm, gate and up; the logits take their turn in the same memory.
ARENA = 4 * ROWS * (2 * HIDDEN + 2 * INNER)
LOGITS = 4 * WANTED * VOCAB


def explain(path, kv_bytes, sequences, dtype):
    out = mortise("explain", "jsonl", "-m", path, *settings(
        use__tokenizer="none", model__context=CONTEXT, kv__memory=kv_bytes, kv__dtype=dtype,
        engine__max_sequences=sequences, engine__max_batch_tokens=ROWS), "--json")
    checks.that(out.returncode == 0, path, out.stderr)
    return json.loads(out.stdout)


def check(name, path):
    for sequences in (16, 32):
        for dtype, value_bytes, token_bytes in (("f32", 4, 112 << 10), ("f16", 2, 56 << 10)):
            assert token_bytes == 2 * LAYERS * KV_HEADS * HEAD * value_bytes
            kv_bytes = sequences * CONTEXT * token_bytes
            report = explain(path, kv_bytes, sequences, dtype)
            memory, what = report["memory"], f"{name}, {sequences} sequences, {dtype}:"
            checks.that(memory["kv_bytes_per_token"] == token_bytes, what, memory)
            checks.that(memory["kv_bytes"] == kv_bytes, what, memory, kv_bytes)
            checks.that(report["fits"] == {"tokens": sequences * CONTEXT, "sequences": sequences}, what, report["fits"])
            checks.that(report["context"] == {"model": 32768, "used": CONTEXT}, what, report["context"])
            checks.that(WEIGHTS[name] <= memory["weights_bytes"] <= PACKED_MAX * WEIGHTS[name], what,
                        memory["weights_bytes"], WEIGHTS[name])
            checks.that(memory["logits_bytes"] == LOGITS, what, memory["logits_bytes"], LOGITS)
            arena = memory["activations_bytes"] + memory["logits_bytes"]
            checks.that(ARENA <= arena <= 1.1 * ARENA + LOGITS, what, arena, ARENA)
            checks.that(0 < memory["workspace_bytes"] < 64 << 20, what, memory["workspace_bytes"])
            parts = ("weights", "kv", "activations", "logits", "workspace")
            checks.that(memory["total_bytes"] == sum(memory[f"{part}_bytes"] for part in parts), what, memory)
    return report


with tempfile.TemporaryDirectory() as place:
    for name in ("gguf", "awq", "bf16"):
        path = pathlib.Path(place, "q.gguf" if name == "gguf" else name)
        sizes = getattr(header_models, name)(path)
        stored = WEIGHTS[name] - (0 if name == "gguf" else 2 * VECTORS)
        checks.that(sum(sizes.values()) == stored, name, "the file's bytes", sum(sizes.values()), stored)
        report = check(name, path)
        if name == "gguf":
            with open(path, "rb") as file:
                os.truncate(path, header_models.header_bytes(file))
            last = explain(path, 32 * CONTEXT * (56 << 10), 32, "f16")
            checks.that(last["memory"] == report["memory"], "a file that ends after its header", last["memory"])
checks.done()
