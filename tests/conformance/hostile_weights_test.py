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
    return refused_file(what, path, path, command)


def refused_file(what, path, named, command="run"):
    """`named`: the file that the message names."""
    begin = time.monotonic()
    out = mortise(command, "jsonl", "-m", path, stdin="")
    took = time.monotonic() - begin
    checks.that(out.returncode == 1, what, "exit", out.returncode, out.stderr)
    checks.that(out.stderr.count("\n") == 1 and out.stderr.startswith("mortise: error: "), what, repr(out.stderr))
    checks.that(str(named) in out.stderr and out.stdout == "", what, out.stderr, out.stdout[:200])
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

# Types: withdrawn, of computations only, never given.
from gguf_edit import header as header_of, parts  # noqa: E402

_, infos, _ = header_of(good)
first = infos["output_norm.weight"]
at = good.index(first) + len(first) - 12
for number, message in ((4, "Q4_2"), (31, "Q4_0_4_4"), (9, "Q8_1"), (24, "I8"), (43, "43"), (2**32 - 1, "4294967295")):
    line = refused(f"type {number}", good[:at] + struct.pack("<I", number) + good[at + 4:])
    checks.that('"output_norm.weight"' in line and message in line and f"@{at}:" in line, "type", number, line)

# A model in parts: any of them opens all; what does not belong together is refused, naming the file.
names = [folder / f"m-{i:05}-of-00003.gguf" for i in range(1, 4)]


def write_parts(changes=()):
    for path, data in zip(names, parts(good, 3)):
        path.write_bytes(data)
    for number, data in dict(changes).items():
        names[number].unlink()
        if data is not None:
            names[number].write_bytes(data)


write_parts()
line = '{"tokens":[5,6,7],"max_tokens":8,"ignore_eos":true,"temperature":0}\n'
want = json.loads(mortise("run", "jsonl", "-m", tiny, stdin=line).stdout)["tokens"]
for path in names:
    out = mortise("run", "jsonl", "-m", path, stdin=line)
    checks.that(out.returncode == 0 and json.loads(out.stdout)["tokens"] == want, "a part", path, out.stderr)
pieces = parts(good, 3)
heads = [data[:header_of(data)[2]] for data in pieces]
write_parts(enumerate(heads))
for path in names:
    out = mortise("explain", "jsonl", "-m", path, "--json")
    same = out.returncode == 0 and json.loads(out.stdout)["memory"] == full["memory"]
    checks.that(same, "headers of parts", out.stderr)
refused_file("headers of parts", names[1], names[1])
for what, changes, named in (
        ("a missing part", {2: None}, 2), ("a part twice", {1: pieces[2]}, 1), ("a part of another split",
         {2: parts(good, 4)[2]}, 2), ("a part that is whole", {1: good}, 1),
        ("a part cut off", {2: pieces[2][:-64]}, 2), ("an empty part", {1: b""}, 1),
        ("a part with damage", {1: pieces[1][:24] + b"\xff" * 8 + pieces[1][32:]}, 1)):
    write_parts(changes)
    line = refused_file(what, names[0], names[named])
    checks.that(what != "a missing part" or "part 3 of 3" in line, what, line)
checks.done()
