"""Compares the plugin with the Python package `gguf`, over random valid files that the package writes: version, keys in
order, values, tensors with type, sizes, offset and length; the numbers of each tensor, which the plugin writes anew as
F32; and blocks that both quantize. Also the headers of the fixtures and of the models, where they are. Flow: run by
CTest. Usage: differential_test.py GGUF_DUMP GGUF_REWRITE; SEED and FILES in the environment replay and shorten a run.
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

READ = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ1_S",
        "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4",
        "NVFP4"]
WRITTEN = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]  # of which the package makes the same bits
LAYOUT = {"general.alignment"}  # is the writer's own
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


def numbers(tensor):
    return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32, copy=False).ravel()


def rewrite(program, jobs):
    """jobs: (format, file, new file)."""
    lines = "".join(" ".join(job) + "\n" for job in jobs)
    out = subprocess.run([program], input=lines, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(out) == len(jobs), (len(out), len(jobs))
    for job, error in zip(jobs, out):
        if error:
            sys.exit(f"{job}: {error}")


def check_metadata(path, new):
    """A rewritten file keeps the values; floats become float32."""
    def known(reader):
        return {key: value_of(field) for key, field in reader.fields.items()
                if not key.startswith("GGUF.") and key not in LAYOUT}
    want, got = known(path), known(new)
    assert list(want) == list(got), (list(want), list(got))
    for key, (is_array, values) in want.items():
        if values and isinstance(values[0], float):
            values = [float(numpy.float32(value)) for value in values]
        assert got[key] == [is_array, values], (key, values, got[key])


def check_values(program, paths):
    """Rewritten as F32, each tensor holds the numbers that the package decodes."""
    rewrite(program, [("gguf.f32/1", path, path + ".f32") for path in paths])
    for path in paths:
        reader, new = gguf.GGUFReader(path), gguf.GGUFReader(path + ".f32")
        check_metadata(reader, new)
        assert [t.name for t in reader.tensors] == [t.name for t in new.tensors], path
        for tensor, copy in zip(reader.tensors, new.tensors):
            with numpy.errstate(all="ignore"):
                want, got = numbers(tensor), copy.data.ravel()
            if copy.tensor_type.name != "F32" or not numpy.array_equal(want, got, equal_nan=True):
                sys.exit(f"{path}: {tensor.name} of type {tensor.tensor_type.name}: values differ")


def check_quantizers(rng, program, folder, files):
    jobs = []
    for i in range(files):
        path = os.path.join(folder, f"source{i}.gguf")
        writer = gguf.GGUFWriter(path, "llama")
        spread = numpy.random.default_rng(rng.randrange(2**32))
        for n in range(4):
            shape = (rng.randint(1, 3), rng.choice([1, 5, 70, 130]), 32 * rng.randint(1, 3))
            data = spread.standard_normal(shape) * 10.0 ** rng.randint(-4, 3)
            data[rng.randrange(shape[0])] *= rng.choice([0, 1, 1e-3])
            # No -0: the scale of a block of zeros has the sign of the first in the package, and of none in ggml.
            writer.add_tensor(f"t{n}", (data + 0.0).astype(numpy.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        jobs += [(kind, path, f"{path}.{kind}") for kind in WRITTEN]
    rewrite(program, [(f"gguf.{kind.lower()}/1", path, new) for kind, path, new in jobs])
    for kind, path, new in jobs:
        number = gguf.GGMLQuantizationType[kind]
        for tensor, copy in zip(gguf.GGUFReader(path).tensors, gguf.GGUFReader(new).tensors):
            want = gguf.quants.quantize(tensor.data, number)
            if copy.tensor_type != number or not numpy.array_equal(want.ravel(), copy.data.ravel()):
                sys.exit(f"{new}: {tensor.name}: the blocks differ")


def main():
    dump, program = sys.argv[1:]
    seed = int(os.environ.get("SEED", random.SystemRandom().randrange(2**32)))
    files = int(os.environ.get("FILES", "2000"))
    print(f"SEED={seed} FILES={files}")
    rng = random.Random(seed)
    memory = "/dev/shm"  # what is written is synced, which a disk takes its time for
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        paths = [os.path.join(folder, f"{i}.gguf") for i in range(files)]
        for path in paths:
            write_file(rng, path)
        compare(dump, paths)
        check_values(program, paths)
        check_quantizers(rng, program, folder, max(files // 100, 1))
    source = pathlib.Path(__file__).resolve().parents[4]
    real = list(source.glob("tests/data/fixtures/gguf/*.gguf"))
    real += pathlib.Path(os.environ.get("MORTISE_MODELS", source / "models")).glob("*.gguf")
    compare(dump, [str(path) for path in real])
    print(f"{files} generated and {len(real)} other files agree")


main()
