"""Quantized models that contradict themselves are refused in one line that names the file and the tensor or key, and
ones that only lack their data open for planning. Usage: hostile_test.py PLANAR_DUMP PLUGIN_FOLDER. Thread rule: one
thread. Flow: run by CTest."""
import copy
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import quant_files as qf

DUMP, PLUGINS = sys.argv[1:3]
scratch = pathlib.Path(tempfile.mkdtemp(prefix="mortise-hostile-"))
NAME = "model.layers.0.mlp.up_proj"
rng = np.random.default_rng(1)
ROWS, SIZE = 24, 128


def awq_model():
    raw, _ = qf.awq(rng, ROWS, SIZE, 32)
    return qf.module(NAME, raw), {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"}


def gptq_model():
    raw, _ = qf.gptq(rng, ROWS, SIZE, 32, order="shuffled")
    return qf.module(NAME, raw), {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True}


def packed_model(zeros="words", order="shuffled"):
    raw, _ = qf.compressed(rng, ROWS, SIZE, "pack4", "group", 32, zeros, order)
    return qf.module(NAME, raw), qf.ct_config("pack4", "group", 32, zeros, order)


def fp8_model(strategy="block"):
    raw, _ = qf.compressed(rng, ROWS, SIZE, "fp8", strategy, 16)
    return qf.module(NAME, raw), qf.ct_config("fp8", strategy, 16)


def drop(suffix):
    return lambda tensors, config: tensors.pop(f"{NAME}.{suffix}")


def put(suffix, value):
    return lambda tensors, config: tensors.__setitem__(f"{NAME}.{suffix}", value)


def cast(suffix, dtype):
    return lambda tensors, config: tensors.__setitem__(f"{NAME}.{suffix}", tensors[f"{NAME}.{suffix}"].astype(dtype))


def turn(suffix):
    return lambda tensors, config: tensors.__setitem__(f"{NAME}.{suffix}",
                                                       np.ascontiguousarray(tensors[f"{NAME}.{suffix}"].T))


def flat(suffix):
    return lambda tensors, config: tensors.__setitem__(f"{NAME}.{suffix}", tensors[f"{NAME}.{suffix}"].reshape(-1))


def cut(suffix):
    return lambda tensors, config: tensors.__setitem__(f"{NAME}.{suffix}", tensors[f"{NAME}.{suffix}"][:-1])


def element(suffix, at, value):
    def change(tensors, config):
        tensors[f"{NAME}.{suffix}"][at] = value
    return change


def setting(key, value):
    def change(tensors, config):
        *path, last = key.split(".")
        for part in path:
            config = config[part]
        config[last] = value
    return change


WEIGHTS = "config_groups.group_0.weights."
# plugin, model, change, words of the one line
CASES = [
    ("awq", awq_model, drop("qzeros"), [NAME + ".qzeros", "without"]),
    ("awq", awq_model, drop("scales"), [NAME + ".scales"]),
    ("awq", awq_model, drop("qweight"), [NAME + ".qweight"]),
    ("awq", awq_model, cut("qzeros"), [NAME, "[3, 3] instead of [4, 3]"]),
    ("awq", awq_model, cut("qweight"), [NAME, "127"]),
    ("awq", awq_model, turn("scales"), [NAME, "'scales'"]),
    ("awq", awq_model, flat("qweight"), [NAME + ".qweight", "matrix"]),
    ("awq", awq_model, cast("qweight", np.int64), [NAME, "i64"]),
    ("awq", awq_model, cast("scales", np.float32), [NAME, "f32"]),
    ("awq", awq_model, put("weight", np.zeros((2, 2), np.float16)), [NAME + ".weight"]),
    ("awq", awq_model, put("qweight", np.zeros((0, 3), np.int32)), [NAME + ".qweight"]),
    ("awq", awq_model, setting("bits", 3), ["config.json", "3 bits"]),
    ("awq", awq_model, setting("bits", "4"), ["config.json", "bits"]),
    ("awq", awq_model, setting("group_size", 0), ["config.json", "group_size"]),
    ("awq", awq_model, setting("group_size", -7), ["config.json", "group_size"]),
    ("awq", awq_model, setting("group_size", 48), [NAME, "48"]),
    ("awq", awq_model, setting("group_size", 64), [NAME, "instead of [2, 3]"]),
    ("awq", awq_model, setting("group_size", 2**62), ["config.json", "group_size"]),
    ("awq", awq_model, setting("version", "gemv"), ["config.json", "gemv"]),
    ("awq", awq_model, setting("version", "gemv_fast"), ["config.json", "gemv_fast"]),
    ("awq", awq_model, setting("version", "a\nb"), ["config.json", r"a\x0ab"]),
    ("awq", awq_model, setting("quant_method", "gptq"), ["config.json", "gptq"]),
    ("gptq", gptq_model, drop("qzeros"), [NAME + ".qzeros"]),
    ("gptq", gptq_model, drop("qweight"), [NAME + ".qweight"]),
    ("gptq", gptq_model, cut("scales"), [NAME, "3 groups"]),
    ("gptq", gptq_model, cut("qweight"), [NAME + ".g_idx", "120"]),
    ("gptq", gptq_model, cast("qzeros", np.float32), [NAME, "f32"]),
    ("gptq", gptq_model, cast("g_idx", np.int64), [NAME + ".g_idx", "I64"]),
    ("gptq", gptq_model, cut("g_idx"), [NAME + ".g_idx"]),
    ("gptq", gptq_model, element("g_idx", 77, 4), [NAME + ".g_idx", "column 77"]),
    ("gptq", gptq_model, element("g_idx", 5, -1), [NAME + ".g_idx", "column 5"]),
    ("gptq", gptq_model, element("g_idx", 127, 2**31 - 1), [NAME + ".g_idx", "column 127"]),
    ("gptq", gptq_model, setting("bits", 2), ["config.json", "2 bits"]),
    ("gptq", gptq_model, setting("bits", 3), ["config.json", "3 bits"]),
    ("gptq", gptq_model, setting("bits", 8), [NAME]),
    ("gptq", gptq_model, setting("bits", None), ["config.json", "bits"]),
    ("gptq", gptq_model, setting("group_size", 0), ["config.json", "group_size"]),
    ("gptq", gptq_model, setting("group_size", 64), [NAME, "groups of 64"]),
    ("gptq", gptq_model, setting("checkpoint_format", "marlin"), ["config.json", "marlin"]),
    ("gptq", gptq_model, setting("checkpoint_format", "gptq_p"), ["config.json", "gptq_p"]),
    ("gptq", gptq_model, setting("is_marlin_format", True), ["config.json", "marlin"]),
    ("gptq", gptq_model, setting("pack_dtype", "int64"), ["config.json", "int64"]),
    ("compressed_tensors", packed_model, drop("weight_scale"), [NAME + ".weight_scale"]),
    ("compressed_tensors", packed_model, drop("weight_packed"), [NAME + ".weight"]),
    ("compressed_tensors", packed_model, cut("weight_packed"), [NAME, "[24, 128]"]),
    ("compressed_tensors", packed_model, element("weight_shape", 1, 2**40), [NAME, "weight_shape"]),
    ("compressed_tensors", packed_model, element("weight_shape", 1, 136), [NAME, "weight_shape"]),
    ("compressed_tensors", packed_model, element("weight_shape", 0, 0), [NAME, "weight_shape"]),
    ("compressed_tensors", packed_model, put("weight_shape", np.zeros(3, np.int64)), [NAME, "weight_shape"]),
    ("compressed_tensors", packed_model, cut("weight_zero_point"), [NAME, "'zeros'"]),
    ("compressed_tensors", packed_model, put("weight_zero_point", np.zeros((3, 4), np.float16)), [NAME, "f16"]),
    ("compressed_tensors", packed_model, turn("weight_scale"), [NAME, "[4, 24]"]),
    ("compressed_tensors", packed_model, element("weight_g_idx", 3, 4), [NAME + ".weight_g_idx", "column 3"]),
    ("compressed_tensors", packed_model, element("weight_g_idx", 3, -2), [NAME + ".weight_g_idx", "column 3"]),
    ("compressed_tensors", packed_model, setting(WEIGHTS + "num_bits", 3), ["config.json", "3 bits"]),
    ("compressed_tensors", packed_model, setting(WEIGHTS + "num_bits", 8), [NAME]),
    ("compressed_tensors", packed_model, setting(WEIGHTS + "group_size", 0), ["config.json", "group_size"]),
    ("compressed_tensors", packed_model, setting(WEIGHTS + "group_size", 64), [NAME, "[24, 4]"]),
    ("compressed_tensors", packed_model, setting(WEIGHTS + "strategy", "token"), ["config.json", "token"]),
    ("compressed_tensors", packed_model, setting("format", "marlin-24"), ["config.json", "marlin-24"]),
    ("compressed_tensors", packed_model, setting("format", "nvfp4-pack-quantized"), ["config.json", "nvfp4"]),
    ("compressed_tensors", packed_model, setting("config_groups.group_0.format", "mxfp4-pack-quantized"),
     ["config.json", "mxfp4"]),
    ("compressed_tensors", packed_model, setting("sparsity_config", {"format": "sparse-24-bitmask"}),
     ["config.json", "sparse-24-bitmask"]),
    ("compressed_tensors", packed_model, setting("config_groups", {}), ["config.json", "config_groups"]),
    ("compressed_tensors", packed_model, setting("transform_config", {"config_groups": {"R1": {"type": "hadamard"}}}),
     ["config.json", "rotates"]),
    ("compressed_tensors", fp8_model, drop("weight_scale"), [NAME + ".weight_scale"]),
    ("compressed_tensors", fp8_model, cast("weight", np.float16), [NAME, "F16"]),
    ("compressed_tensors", fp8_model, cut("weight_scale"), [NAME, "[1, 8]"]),
    ("compressed_tensors", fp8_model, put("weight_zero_point", np.zeros((2, 8), np.int8)), [NAME, "'zeros'"]),
    ("compressed_tensors", fp8_model, setting(WEIGHTS + "block_structure", [16]), ["config.json", "block"]),
    ("compressed_tensors", fp8_model, setting(WEIGHTS + "block_structure", [0, 16]), ["config.json", "block"]),
    ("compressed_tensors", fp8_model, setting(WEIGHTS + "num_bits", 4), ["config.json", "4 bits"]),
    ("compressed_tensors", fp8_model, setting("quant_method", "fp8"), [NAME]),
]


def ask(plugin, lines):
    done = subprocess.run([DUMP, f"{PLUGINS}/mortise-weights-{plugin}.so", str(scratch / "out")], text=True,
                          input="".join(line + "\n" for line in lines), capture_output=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr)
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines), (answers, done.stderr)  # one line each
    return answers


wrong = []
for plugin in ("awq", "gptq", "compressed_tensors"):
    own, folders = [case for case in CASES if case[0] == plugin], []
    for n, (_, model, change, _) in enumerate(own):
        tensors, config = model()
        change(tensors, config := copy.deepcopy(config))
        folders.append(scratch / f"{plugin}-{n}")
        qf.write_folder(folders[-1], tensors, config)
    for folder, (_, _, _, words), answer in zip(folders, own, ask(plugin, [str(f) for f in folders]), strict=True):
        if not answer.startswith(f"error {folder}/") or not all(word in answer for word in words):
            wrong.append((words, answer))

for plugin, model in (("awq", awq_model), ("gptq", gptq_model), ("compressed_tensors", packed_model),
                      ("compressed_tensors", fp8_model)):
    folder = scratch / f"{plugin}-header"
    qf.write_folder(folder, *model())
    file = folder / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[:8 + int.from_bytes(data[:8], "little")])
    whole, header = ask(plugin, [str(folder), f"header {folder}"])
    if not whole.startswith("error ") or not header.startswith("ok "):
        wrong.append((plugin, "header only", whole, header))
for case in wrong:
    print(*case, sep="\n  ")
sys.exit(1 if wrong else 0)
