"""Writes random valid GGUF files with the Python package `gguf` and compares what it reads with what the
plugin reads: version, keys in order, values, tensors with type, sizes, offset and length. Also the fixtures
and the models, where they are. Usage: differential_test.py GGUF_DUMP; SEED and FILES in the environment
replay and shorten a run.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import gguf
    import numpy
except ImportError as error:
    sys.exit(f"{error}: this test needs the packages gguf and numpy: pip install gguf numpy")

READ = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]
INTEGERS = {"uint8": (0, 2**8 - 1), "int8": (-2**7, 2**7 - 1), "uint16": (0, 2**16 - 1),
            "int16": (-2**15, 2**15 - 1), "uint32": (0, 2**32 - 1), "int32": (-2**31, 2**31 - 1),
            "uint64": (0, 2**63 - 1), "int64": (-2**63, 2**63 - 1)}
TEXTS = ["", "a", "llama", "Ġthe", "日本", "two\nlines", "\u0000", "{% if x %}" * 50]


def name(rng, taken, limit):
    while True:
        out = "".join(rng.choice("abcdefgh._0123é") for _ in range(rng.randint(1, limit)))
        if len(out.encode()) <= limit and out not in taken:
            taken.add(out)
            return out


def add_value(rng, writer, key):
    kind = rng.choice([*INTEGERS, "float32", "float64", "bool", "string", "array"])
    if kind in INTEGERS:
        getattr(writer, "add_" + kind)(key, rng.choice([*INTEGERS[kind], 0, 1, 100]))
    elif kind in ("float32", "float64"):
        getattr(writer, "add_" + kind)(key, rng.choice([0.0, -1.5, 1e-5, 3.25e30, rng.random()]))
    elif kind == "bool":
        writer.add_bool(key, rng.random() < 0.5)
    elif kind == "string":
        writer.add_string(key, rng.choice([text for text in TEXTS if text]))  # the writer drops empty ones
    else:
        count = rng.choice([1, 2, 7, 100])
        values = rng.choice([
            lambda: [rng.randint(-2**31, 2**31 - 1) for _ in range(count)],
            lambda: [rng.random() for _ in range(count)],
            lambda: [rng.random() < 0.5 for _ in range(count)],
            lambda: [rng.choice(TEXTS) for _ in range(count)]])()
        writer.add_array(key, values)


def write_file(rng, path):
    writer = gguf.GGUFWriter(path, "llama")
    if rng.random() < 0.7:
        writer.add_custom_alignment(2 ** rng.randint(3, 12))
    keys = {"general.architecture", "general.alignment"}
    for _ in range(rng.randint(0, 30)):
        add_value(rng, writer, name(rng, keys, rng.choice([4, 40, 300])))
    names = set()
    for _ in range(rng.randint(0, 12)):
        kind = gguf.GGMLQuantizationType[rng.choice(READ)]
        block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
        outer = [rng.randint(1, 5) for _ in range(rng.randint(0, 3))]
        row_bytes = rng.randint(1, 4) * block_bytes
        data = rng.randbytes(int(numpy.prod(outer, dtype=int)) * row_bytes)
        data = numpy.frombuffer(data, dtype=numpy.uint8)
        writer.add_tensor(name(rng, names, 63), data.reshape(*outer, row_bytes), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def value_of(field):
    """[is array, values] as gguf_dump prints them."""
    is_array = field.types[0] == gguf.GGUFValueType.ARRAY
    parts = [field.parts[index] for index in field.data]
    if field.types[-1] == gguf.GGUFValueType.STRING:
        return [int(is_array), [bytes(part).hex() for part in parts]]
    return [int(is_array), [part[0].item() for part in parts]]


def expected(path):
    reader = gguf.GGUFReader(path)
    meta = [[key.encode().hex(), value_of(field)] for key, field in reader.fields.items()
            if not key.startswith("GGUF.")]  # counts and version, which the package lists as keys
    tensors = [[tensor.name.encode().hex(), tensor.tensor_type.name, [int(size) for size in tensor.shape],
                int(tensor.data_offset), int(tensor.n_bytes)] for tensor in reader.tensors]
    return {"version": int(reader.fields["GGUF.version"].parts[0][0]), "meta": meta, "tensors": tensors}


def compare(dump, paths):
    lines = subprocess.run([dump, *paths], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == len(paths), (len(lines), len(paths))
    for path, line in zip(paths, lines):
        got = json.loads(line)
        if "error" in got:
            sys.exit(f"{path} is refused: {bytes.fromhex(got['error']).decode()}")
        want = expected(path)
        for part in want:
            if got[part] != want[part]:
                sys.exit(f"{path}: {part} differs:\n got {str(got[part])[:2000]}\n"
                         f"want {str(want[part])[:2000]}")


def main():
    dump = sys.argv[1]
    seed = int(os.environ.get("SEED", random.SystemRandom().randrange(2**32)))
    files = int(os.environ.get("FILES", "300"))
    print(f"SEED={seed} FILES={files}")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{i}.gguf") for i in range(files)]
        for path in paths:
            write_file(rng, path)
        compare(dump, paths)
    source = pathlib.Path(__file__).resolve().parents[4]
    real = list(source.glob("tests/data/fixtures/gguf/*.gguf"))
    real += pathlib.Path(os.environ.get("MORTISE_MODELS", source / "models")).glob("*.gguf")
    compare(dump, [str(path) for path in real])
    print(f"{files} generated and {len(real)} other files agree")


main()
