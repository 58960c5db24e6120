"""Every tiny hub model goes to a GGUF and back: the GGUF meets the model's golden values, and what comes back holds the
same bits under the same names."""
import json
import pathlib
import struct
import sys
import tempfile

from harness import DATA, Checks
from safetensors import safe_open

from conversion import cases_of, check_golden, convert, converted

# What a GGUF can't say, and the words of the refusal.
NO_WAY = {"llama-rope-dynamic": "type dynamic", "llama-rope-yarn-mscale": "form of YaRN",
          "smollm3-window": "without RoPE"}
# Experts in a stack come back one by one, under the names that most readers know.
UNSTACKED = {"mixtral-fused", "qwen2_moe-mixed"}
# What does not come back, and the words of the refusal: stacks of experts with biases have no hub names, and of Llama
# 3's rule a GGUF keeps a table that a config can only say for 8192 tokens.
ONE_WAY = {"gpt_oss": "has no counterpart", "llama-rope-llama3": "convert to gguf"}


def tensors(folder):
    """Bits of every tensor by name."""
    out = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():
                slice_ = file.get_slice(name)
                out[name] = (slice_.get_dtype(), slice_.get_shape(), raw(path, name))
    return out


def raw(path, name):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    begin, end = json.loads(data[8:8 + size])[name]["data_offsets"]
    return data[8 + size + begin:8 + size + end]


def check(checks, folder, scratch):
    name = folder.name
    if name in NO_WAY:
        run = convert(folder, "gguf-f32", scratch / f"{name}.gguf")
        checks.that(run.returncode == 1 and NO_WAY[name] in run.stderr, name, "refused", run.stderr)
        return
    there = converted(checks, folder, "gguf-f32", scratch / f"{name}.gguf")
    if there is None:
        return
    check_golden(checks, f"{name} as gguf", there, cases_of(folder))
    source = tensors(folder)
    dtype = next(iter(source.values()))[0]
    refusal = next((words for begin, words in ONE_WAY.items() if name.startswith(begin)), None)
    if refusal is not None:
        run = convert(there, "safetensors-bf16", scratch / name)
        checks.that(run.returncode == 1 and refusal in run.stderr, name, "refused", run.stderr)
        return
    if dtype not in ("BF16", "F16"):
        return
    back = converted(checks, there, f"safetensors-{dtype.lower()}", scratch / name)
    if back is None:
        return
    check_golden(checks, f"{name} and back", back, cases_of(folder))
    got = tensors(back)
    checks.that(name in UNSTACKED or sorted(got) == sorted(source), name, "names", sorted(set(got) ^ set(source)))
    for tensor in source.keys() & got.keys():
        checks.that(got[tensor][1:] == source[tensor][1:], name, tensor, "bits")


checks = Checks()
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    roots = [DATA / "fixtures/tiny", DATA / "families"]
    for folder in [path.parent for root in roots for path in sorted(root.glob("*/golden.json"))]:
        if len(sys.argv) < 2 or folder.name in sys.argv[1:]:
            check(checks, folder, scratch)
checks.done()
