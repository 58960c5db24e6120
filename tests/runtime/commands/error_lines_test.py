"""A damaged model is one line on standard error that says where, what is wrong and what to do, whichever part found
it."""
import json
import pathlib
import shutil
import struct
import tempfile

from harness import DATA, Checks, mortise, settings

checks = Checks()


def refused(what, model, *parts):
    for command in ("run", "explain"):
        run = mortise(command, "jsonl", "-m", model, *settings(use__tokenizer="none"), stdin="")
        lines = run.stderr.splitlines()
        checks.that(run.returncode == 1 and len(lines) == 1 and lines[0].startswith("mortise: error: ")
                    and "; " in lines[0] and all(p in lines[0] for p in parts),
                    command, what, run.returncode, run.stderr)


def with_config(folder, **values):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **values}))


def with_dtype(folder, tensor, dtype):
    """A file that says another type of the same size."""
    path = folder / "model.safetensors"
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header[tensor]["dtype"] = dtype
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size:])


DEEP = "x"
for _ in range(80):
    DEEP = [DEEP]
CONFIGS = {"hidden_size": (-1, 0, 1.5, "x", 1 << 40, [1, 2]), "model_type": (5, "nothing"), "rms_norm_eps": ("x", 7),
           "rope_theta": (0, True), "num_key_value_heads": (3, -1), "unknown": (DEEP,)}
AWQ = "model.layers.0.mlp.down_proj"
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    for key, values in CONFIGS.items():
        for i, value in enumerate(values):
            folder = shutil.copytree(DATA / "fixtures/tiny/llama", scratch / f"{key}-{i}")
            if key == "rope_theta":
                with_config(folder, rope_parameters=None)
            with_config(folder, **{key: value})
            refused(f"{key} = {str(value)[:20]}", folder, str(folder))
    for tensor, dtype in ((f"{AWQ}.qweight", "F32"), (f"{AWQ}.scales", "I16"), (f"{AWQ}.qzeros", "XX")):
        folder = shutil.copytree(DATA / "fixtures/quant/awq-llama-g32", scratch / f"{tensor}-{dtype}")
        with_dtype(folder, tensor, dtype)
        refused(f"{tensor} {dtype}", folder, AWQ)
checks.done()
