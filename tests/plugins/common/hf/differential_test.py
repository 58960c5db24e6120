"""Compares the header reader with Python's `safetensors` on generated files: valid ones must read the same, and of
damaged ones none is accepted that the reference refuses. Usage: differential_test.py HF_DUMP; SEED and FILES in the
environment replay and shorten a run.
"""
import json
import os
import random
import struct
import subprocess
import sys

try:
    import safetensors
except ImportError as error:
    sys.exit(f"{error}: this test needs the package safetensors: pip install safetensors")

BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
        "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32,
        "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}
ALPHABET = "abcdefgh._0123 é日\"\\/\n😀"
BATCH = 500


def text(rng, longest):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randint(0, longest)))


def blanks(rng):
    return "".join(rng.choice(" \t\n\r") for _ in range(rng.choice([0, 0, 0, 1, 3])))


def quote(rng, value):
    return json.dumps(value, ensure_ascii=rng.random() < 0.5)


def shape_of(rng, bits):
    shape = [rng.choice([0, 1, 1, 2, 3, 5, 8]) for _ in range(rng.randint(0, 6))]
    if bits % 8 != 0:
        shape.append(4)
    return shape


def valid(rng):
    """The entries of a header as (key, JSON text), and the bytes of the data."""
    entries, data = [], b""
    names = {text(rng, rng.choice([3, 30])) for _ in range(rng.randint(0, 9))} - {"__metadata__"}
    for name in sorted(names, key=lambda _: rng.random()):
        dtype = rng.choice(list(BITS))
        shape = shape_of(rng, BITS[dtype])
        count = BITS[dtype]
        for size in shape:
            count *= size
        begin = len(data)
        data += rng.randbytes(count // 8)
        fields = [("dtype", f'"{dtype}"'), ("shape", "[" + ",".join(blanks(rng) + str(n) for n in shape) + "]"),
                  ("data_offsets", f"[{begin},{blanks(rng)}{len(data)}]")]
        if rng.random() < 0.1:
            fields.append(("extra", rng.choice(["null", "1.5", '{"a":[1,{"b":2}]}', "[[]]", '"x"'])))
        rng.shuffle(fields)
        body = ",".join(f'{blanks(rng)}"{key}":{blanks(rng)}{value}' for key, value in fields)
        entries.append((quote(rng, name), "{" + body + "}"))
    if rng.random() < 0.4:
        pairs = {text(rng, 9): text(rng, 20) for _ in range(rng.randint(0, 4))}
        entries.append(('"__metadata__"', "{" + ",".join(f"{quote(rng, k)}:{quote(rng, v)}"
                                                           for k, v in pairs.items()) + "}"))
    rng.shuffle(entries)
    return entries, data


def assemble(rng, entries, data):
    header = "{" + ",".join(f"{blanks(rng)}{k}{blanks(rng)}:{blanks(rng)}{v}{blanks(rng)}" for k, v in entries)
    header = (header + "}" + " " * rng.choice([0, 0, 3, 7])).encode()
    return struct.pack("<Q", len(header)) + header + data


def damage_bytes(rng, raw):
    raw = bytearray(raw)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(raw))
        kind = rng.randrange(5)
        if kind == 0:
            raw[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff, 0x22, 0x5c, 0x7b, 0x7d, 0x2c, 0x39, 0x2d, 0x2e, 0x65])
        elif kind == 1:
            del raw[at:at + rng.choice([1, 1, 4, len(raw)])]
        elif kind == 2:
            raw[at:at] = rng.choice([b"\0", b" ", b"0", b"-", b",", b"}", b"\xff", b"9" * 20, b"\xef\xbb\xbf"])
        elif kind == 3:
            raw[at] ^= 1 << rng.randrange(8)
        else:
            over = max(8, len(raw)) - 8
            raw[:8] = struct.pack("<Q", rng.choice([0, 1, 2, over, over + 1, max(0, over - 1), len(raw),
                                                    100_000_001, 2**63, 2**64 - 1]))
        if not raw:
            raw = bytearray(b"\0")
    return bytes(raw)


def is_whole(value):
    """Has the entry not been damaged before?"""
    try:
        return isinstance(json.loads(value)["data_offsets"][1], int)
    except (ValueError, TypeError, LookupError):
        return False


def shifted(rng, value):
    """The tensor with both its offsets moved: same length, another place."""
    field = json.loads(value).get("data_offsets", [0, 0])
    step = rng.choice([-8, -1, 1, 2, 8, field[0] - field[1], field[1] - field[0]])
    return json.dumps({**json.loads(value), "data_offsets": [max(0, n + step) for n in field]})


def damage_fields(rng, entries, data):
    entries = list(entries)
    for _ in range(rng.choice([1, 1, 2])):
        if not entries:
            entries.append(('"a"', '{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'))
        at = rng.randrange(len(entries))
        key, value = entries[at]
        kind = rng.randrange(8)
        if kind == 7:
            value = shifted(rng, value) if is_whole(value) else value
        elif kind == 0:  # a number
            numbers = [i for i, c in enumerate(value) if c.isdigit()]
            if numbers:
                i = rng.choice(numbers)
                value = value[:i] + rng.choice(["", "0", "1", "-1", "-0", "1.0", "1e0", "18446744073709551615",
                                                "9223372036854775808", "4294967296", "01"]) + value[i + 1:]
        elif kind == 1:  # a dtype
            value = value.replace(rng.choice(list(BITS)), rng.choice(list(BITS) + ["f32", "F12", ""]))
        elif kind == 2:
            entries.append((key, value))
        elif kind == 3:
            value = rng.choice(["null", "{}", "[]", "1", '"x"', "true", value.replace("shape", "Shape"),
                                value.replace("}", ',"shape":[1]}'), value.replace("[", "[[", 1)])
        elif kind == 4:
            del entries[at]
            continue
        elif kind == 5:
            key = rng.choice(['"__metadata__"', '"a"', "a", '""'])
        else:
            data = rng.choice([data + b"\0", data[:-1], b""])
        entries[at] = (key, value)
    return entries, data


def reference(raw):
    """What safetensors says of a file as hf_dump prints it; None where it refuses it."""
    try:
        tensors = safetensors.deserialize(raw)
    except Exception:
        return None
    return sorted([name.encode().hex(), str(info["dtype"]), list(info["shape"]), bytes(info["data"]).hex()]
                  for name, info in tensors)


def ours(dump, files):
    packed = b"".join(struct.pack("<Q", len(raw)) + raw for raw in files)
    lines = subprocess.run([dump], input=packed, check=True, capture_output=True).stdout.decode().splitlines()
    assert len(lines) == len(files), (len(lines), len(files))
    for raw, line in zip(files, lines):
        got = json.loads(line)
        if "error" in got:
            yield None, bytes.fromhex(got["error"]).decode(errors="replace")
        else:
            yield sorted([name, dtype, shape, raw[offset:offset + length].hex()]
                         for name, dtype, shape, offset, length in got["tensors"]), got["metadata"]


def check(dump, files, must_accept):
    accepted = 0
    for raw, (got, error) in zip(files, ours(dump, files)):
        want = reference(raw)
        accepted += got is not None
        if (got is None and must_accept) or (got is not None and got != want):
            sys.exit(f"differs ({error}):\n file {raw!r}\n got  {got}\n want {want}")
    return accepted


def main():
    dump = sys.argv[1]
    seed = int(os.environ.get("SEED", random.SystemRandom().randrange(2**32)))
    count = int(os.environ.get("FILES", "3000"))
    print(f"SEED={seed} FILES={count}", flush=True)
    rng = random.Random(seed)
    accepted = 0
    for _ in range(0, count, BATCH):
        good = [valid(rng) for _ in range(BATCH)]
        files = [assemble(rng, *parts) for parts in good]
        assert check(dump, files, True) == BATCH
        accepted += check(dump, [damage_bytes(rng, raw) for raw in files], False)
        accepted += check(dump, [assemble(rng, *damage_fields(rng, *parts)) for parts in good], False)
    print(f"{count} valid files agree; of {2 * count} damaged ones {accepted} were still valid to both")


main()
