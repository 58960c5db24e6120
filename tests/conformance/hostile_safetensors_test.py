"""Damaged safetensors files and hub folders through the program: one line with file and place, exit 1, at once, and
never a signal; explain alone takes files that end after their header."""
import json
import random
import shutil
import struct
import tempfile
import time
from pathlib import Path

from harness import DATA, SLOWER, Checks, mortise

SECONDS_MAX = 5.0 * SLOWER  # of a whole process on a busy machine; reading the file itself takes milliseconds
checks = Checks()
tiny = DATA / "fixtures/tiny/llama"
base = Path(tempfile.mkdtemp(prefix="mortise-hostile-"))
good = (tiny / "model.safetensors").read_bytes()
length = struct.unpack("<Q", good[:8])[0]
header, data = json.loads(good[8:8 + length]), good[8 + length:]


def folder(files, source=tiny):
    path = base / str(len(list(base.iterdir())))
    shutil.copytree(source, path)
    for name, content in files.items():
        (path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def refused(what, path, where="", command="run"):
    begin = time.monotonic()
    out = mortise(command, "jsonl", "-m", path, "--set", "use.tokenizer=none", stdin="")
    took = time.monotonic() - begin
    checks.that(out.returncode == 1, what, "exit", out.returncode, out.stderr)
    checks.that(out.stderr.count("\n") == 1 and out.stderr.startswith("mortise: error: "), what, repr(out.stderr))
    checks.that(f"{path}/{where}" in out.stderr and out.stdout == "", what, out.stderr, out.stdout[:200])
    checks.that(took < SECONDS_MAX, what, "took", took)
    return out.stderr


def file_of(entries, tail=data):
    text = (entries if isinstance(entries, str) else json.dumps(entries)).encode()
    return struct.pack("<Q", len(text)) + text + tail


def bad_file(what, content):
    return refused(what, folder({"model.safetensors": content}), "model.safetensors")


for row in (DATA / "cases/cases.jsonl").read_text().splitlines():
    case = json.loads(row)
    if case["id"] in ("wgt-10", "wgt-11"):
        for key, value in case["input"].items():
            if not key.startswith("valid"):
                bad_file(f"{case['id']} {key}", bytes.fromhex(value))
for value in (0, 1, length - 1, length + 1, len(good), 10**8 + 1, 2**63, 2**64 - 1):
    bad_file(f"header length {value}", struct.pack("<Q", value) + good[8:])
for size in [0, 1, 7, 8, 9] + random.Random(5).sample(range(10, len(good)), 8):
    bad_file(f"prefix {size}", good[:size])
name = next(key for key in header if key.endswith("q_proj.weight"))
for field, value in (("dtype", "BF17"), ("dtype", 1), ("shape", [2**62, 2**62]), ("shape", [-1]), ("shape", None),
                     ("data_offsets", [0, 2**64 - 1]), ("data_offsets", [8, 0]), ("data_offsets", [0, 8])):
    bad_file(f"{field} {value}", file_of({**header, name: {**header[name], field: value}}))
text = json.dumps(header)
bad_file("a name twice", file_of(text[:-1] + ", " + json.dumps(name) + ": " + json.dumps(header[name]) + "}"))
bad_file("a deep header", file_of('{"a":' + "[" * 10**5 + "}"))
pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
checks.that("Git LFS" in bad_file("an LFS pointer", pointer), "LFS")
bad_file("a byte more", good + b"x")

# Configs and the index.
for what, config in (("no JSON", b"{"), ("a list", b"[]"), ("zero bytes", b"\0" * 64), ("deep", b'{"a":' * 1000)):
    refused(what, folder({"config.json": config}), "config.json")
sharded = DATA / "fixtures/tiny/llama-sharded"
index = json.loads((sharded / "model.safetensors.index.json").read_text())
weight_map = index["weight_map"]
for what, entries in (("outside", {**weight_map, "x": "../x.safetensors"}),
                      ("absolute", {**weight_map, "x": "/etc/passwd"}),
                      ("absent tensor", {**weight_map, "x": next(iter(weight_map.values()))}), ("no map", None)):
    refused(what, folder({"model.safetensors.index.json": {"weight_map": entries}}, sharded),
            "model.safetensors.index.json")
gone = folder({}, sharded)
(gone / "model-00002-of-00003.safetensors").unlink()
refused("a shard is gone", gone, "model-00002-of-00003.safetensors")
config = json.loads((tiny / "config.json").read_text())
config["quantization_config"] = {"quant_method": "bitsandbytes"}
line = refused("bitsandbytes", folder({"config.json": config}), "config.json")
checks.that("no plugin reads" in line, line)

# Behind the header only explain goes on, also where a model is in shards.
header_only = folder({"model.safetensors": good[:8 + length]})
out = mortise("explain", "jsonl", "-m", header_only, "--set", "use.tokenizer=none", "--json")
if out.returncode == 0:
    checks.that(any("header" in w for w in json.loads(out.stdout)["warnings"]), "explain says so", out.stdout[-400:])
else:  # an arch plugin may not know the family; the file is not what stops it
    checks.that("safetensors" not in out.stderr, "explain of a header", out.stderr)
refused("run of a header", header_only, "model.safetensors")
checks.done()
