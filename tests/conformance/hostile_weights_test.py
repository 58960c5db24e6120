"""Damaged GGUF files through the program: one line with file and offset, exit 1, at once, and never a signal; explain
alone takes a file that ends after its header."""
import json
import os
import random
import struct
import sys
import tempfile
import time
from pathlib import Path

from harness import DATA, Checks, fixture, mortise

SECONDS_MAX = 2.0  # of a whole process on a busy machine; reading the file itself takes milliseconds
checks = Checks()
folder = Path(tempfile.mkdtemp(prefix="mortise-hostile-"))
tiny, _ = fixture("llama-q8_0")
good = tiny.read_bytes()


def refused(what, data, command="run"):
    path = folder / "bad.gguf"
    path.write_bytes(data)
    begin = time.monotonic()
    out = mortise(command, "jsonl", "-m", path, stdin="")
    took = time.monotonic() - begin
    checks.that(out.returncode == 1, what, "exit", out.returncode, out.stderr)
    checks.that(out.stderr.count("\n") == 1 and out.stderr.startswith("mortise: error: "), what, repr(out.stderr))
    checks.that(str(path) in out.stderr and out.stdout == "", what, out.stderr, out.stdout[:200])
    checks.that(took < SECONDS_MAX, what, "took", took)
    return out.stderr


# wgt-01, wgt-02, and bytes that are no file.
for name in ("hugekey", "emptykey", "bytes"):
    refused(name, (DATA / f"cases/files/{name}.gguf").read_bytes())
refused("magic", b"GGML" + good[4:])
refused("version 1", good[:4] + struct.pack("<I", 1) + good[8:])
refused("version 4", good[:4] + struct.pack("<I", 4) + good[8:])
refused("big-endian", good[:4] + struct.pack(">I", 3) + good[8:])
for at, what in ((8, "tensor count"), (16, "key count")):
    for value in (2**63, 2**64 - 1, 2**32, 10**7):
        refused(f"{what} {value}", good[:at] + struct.pack("<Q", value) + good[at + 8:])

# Prefixes: a sample here, every one in the plugin's own tests. Behind the header only explain goes on.
header = good.index(b"output_norm.weight") + 200
for size in [0, 1, 3, 4, 7, 8, 15, 16, 23, 24, 25] + random.Random(3).sample(range(26, header), 15):
    if size < len(good):
        refused(f"prefix {size}", good[:size])
path = folder / "header.gguf"
path.write_bytes(good[:-4096])
out = mortise("explain", "jsonl", "-m", path, "--json")
checks.that(out.returncode == 0, "explain of a header", out.stderr)
checks.that(any("header" in w for w in json.loads(out.stdout)["warnings"]), "explain says so", out.stdout[-400:])
full = json.loads(mortise("explain", "jsonl", "-m", tiny, "--json").stdout)
checks.that(full["memory"] == json.loads(out.stdout)["memory"], "the header alone gives the same memory")
refused("data cut off", good[:-4096])

# What is no file at all: said at once, without waiting for a writer.
pipe = folder / "pipe.gguf"
os.mkfifo(pipe)
out = mortise("explain", "jsonl", "-m", pipe, timeout=20)
checks.that(out.returncode == 1 and "is not a regular file" in out.stderr, "a pipe", out.stderr)

# Metadata that is well-formed and wrong (wgt-05): the key is named.
sys.path.insert(0, str(Path(__file__).parent))
from gguf_edit import edited  # noqa: E402

for what, change, key in (
        ("no context length", {"llama.context_length": None}, "llama.context_length"),
        ("eos behind the vocabulary", {"tokenizer.ggml.eos_token_id": 320}, "tokenizer.ggml.eos_token_id"),
        ("no heads", {"llama.attention.head_count": 0}, "llama.attention.head_count"),
        ("huge layer count", {"llama.block_count": 2**31}, "llama.block_count"),
        ("one layer too many", {"llama.block_count": 3}, "blk.2."),
        ("unknown family", {"general.architecture": "llamb"}, "llamb")):
    path = folder / "edited.gguf"
    path.write_bytes(edited(good, change))
    out = mortise("run", "jsonl", "-m", path, stdin="")
    checks.that(out.returncode == 1 and key in out.stderr and out.stderr.count("\n") == 1, what, out.returncode,
                out.stderr)
checks.done()
