"""The services of tools, as a front end of the test's own gets them: rows of tensors against the gguf package, sums of
activations against numpy and under any batch and threads, a second model, limits and refusals.
Flow: services_probe.so -> JSON lines -> compared."""
import json
import os
import pathlib

import gguf
import numpy as np

from harness import SMOLLM2, Checks, fixture, mortise, settings

FOLDER = pathlib.Path(os.environ["MORTISE_BUILD"]) / "services"
checks = Checks()


def probe(model, *words, **sets):
    return mortise("run", "jsonl", "-m", model, "--plugins", FOLDER,
                   *settings(use__frontend=["probe"], kv__dtype="f32", **sets), *words)


def answer(model, *words, **sets):
    done = probe(model, *words, **sets)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_rows():
    for name in ("llama-q8_0", "llama-q4_k_m", "llama-f16"):
        model = fixture(name)[0]
        for tensor in gguf.GGUFReader(model).tensors:
            if tensor.name not in ("token_embd.weight", "blk.0.ffn_down.weight"):
                continue
            got = answer(model, "rows", tensor.name)[0]
            want = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32).reshape(-1)
            checks.that(np.array_equal(np.array(got["values"], np.float32), want), name, tensor.name)
            checks.that(got["block"] == gguf.GGML_QUANT_SIZES[tensor.tensor_type][0], name, got["block"])


def check_sums():
    model = fixture("llama-f16")[0]
    reader = gguf.GGUFReader(model)
    data = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float64) for t in reader.tensors}
    epsilon = float(reader.get_field("llama.attention.layer_norm_rms_epsilon").contents())
    table = data["token_embd.weight"]
    rows = table[[(i * 7 + 3) % len(table) for i in range(200)]]
    x = rows / np.sqrt(np.mean(rows**2, axis=1, keepdims=True) + epsilon) * data["blk.0.attn_norm.weight"].reshape(-1)
    for name in ("blk.0.attn_q.weight", "blk.0.attn_v.weight"):
        got = answer(model, "sums", name, 200)[0]
        checks.that(got["rows"] == 200, got["rows"])
        checks.that(np.allclose(got["squares"], np.sum(x**2, axis=0), rtol=1e-4), name)
        checks.that(np.allclose(got["magnitudes"], np.sum(abs(x), axis=0), rtol=1e-4), name)
    want = answer(model, "sums", "blk.1.ffn_down.weight", 200)
    checks.that(want[0]["rows"] == 200 and min(want[0]["squares"]) > 0, want)
    for sets in ({"engine__max_batch_tokens": 7}, {"engine__threads": 1}, {"engine__threads": 3}):
        checks.that(answer(model, "sums", "blk.1.ffn_down.weight", 200, **sets) == want, sets)


def check_refused(done, status, *words):
    errors = [line for line in done.stderr.splitlines() if not line.startswith("mortise: warning: ")]
    checks.that(done.returncode == status and len(errors) == 1 and all(word in errors[0] for word in words),
                done.returncode, done.stderr, words)


def check_models():
    tiny, other = fixture("llama-q8_0")[0], fixture("llama-f16")[0]
    same = {"same": True, "text": True}
    checks.that(answer(tiny, "both", tiny) == [same, same])
    checks.that(answer(tiny, "both", other) == [{**same, "same": False}] * 2)
    check_refused(probe(tiny, "both", "nowhere.gguf"), 1, "nowhere.gguf")
    if SMOLLM2.exists():  # the KV of such a context is some 90 GiB: it is found out before anything is taken
        check_refused(probe(tiny, "both", SMOLLM2, model__context=1 << 22, kv__memory="1000 GiB"), 1, "MiB are free",
                      "beside the model", SMOLLM2.name)


checks.that(answer(fixture("llama-q8_0")[0], "many") == [{"open": 16, "code": 7}], "many")
check_rows()
check_sums()
check_models()
check_refused(probe(fixture("llama-q8_0")[0], "writer", "nobody"), 1, "'nobody'", "safetensors")
# Settings that cannot run are found before the model is opened; explain takes them.
wrong = settings(plugin__bench__tests=["walk:3"])
check_refused(mortise("run", "bench", "-m", "nowhere.gguf", *wrong), 2, "plugin.bench.tests", "walk")
checks.that(mortise("explain", "bench", "-m", fixture("llama-q8_0")[0], *wrong).returncode == 0, "explain")
# What a running front end finds wrong is no longer a matter of arguments.
check_refused(probe(fixture("llama-q8_0")[0]), 1, "probe: is asked")
checks.done()
