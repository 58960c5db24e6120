"""Models of all schemes, written with numpy, open through the plugins and decode to the same bits as the plain decoder
of quant_files.py; so do the fixtures. Usage: differential_test.py PLANAR_DUMP PLUGIN_FOLDER; MORTISE_SEED replays a
run, CASES shortens it. Thread rule: one thread. Flow: run by CTest."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import quant_files as qf

DUMP, PLUGINS = sys.argv[1:3]
FIXTURES = pathlib.Path(os.environ["MORTISE_SOURCE"]) / "tests/data/fixtures/quant"
SEED = int(os.environ.get("MORTISE_SEED", np.random.SeedSequence().entropy % 2**32))
CASES = int(os.environ.get("CASES", 60))
scratch = pathlib.Path(tempfile.mkdtemp(prefix="mortise-planar-"))
scales = ["float16", "bf16", "float32"]


def dump(plugin, folders):
    """[(tensors by name, floats in order)] of the models, opened by one process."""
    done = subprocess.run([DUMP, f"{PLUGINS}/mortise-weights-{plugin}.so", str(scratch / f"{plugin}-out")], text=True,
                          input="".join(f"{f}\n" for f in folders), capture_output=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr)
    out = []
    for folder, line in zip(folders, done.stdout.splitlines(), strict=True):
        assert line.startswith("ok "), (folder, line)
        tensors = {t["name"]: t for t in map(json.loads, pathlib.Path(line[3:] + ".jsonl").open())}
        out.append((tensors, np.fromfile(line[3:] + ".f32", np.float32)))
    return out


def awq_case(rng):
    group = int(rng.choice([32, 64, 128, -1]))
    size = int(rng.integers(1, 6)) * (32 if group == -1 else group)
    return (lambda: qf.awq(rng, 8 * int(rng.integers(1, 12)), size, group, str(rng.choice(scales[:2]))),
            {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True,
             "version": str(rng.choice(["gemm", "GEMM"]))}, set())


def gptq_case(rng):
    bits, version = int(rng.choice([4, 8])), int(rng.choice([1, 2]))
    group = int(rng.choice([32, 64, 128, -1]))
    order = str(rng.choice(["none", "plain", "shuffled"]))
    size, out = 8 * int(rng.integers(4, 90)), 8 * int(rng.integers(1, 12)) + int(rng.choice([0, 0, 3]))
    if order == "shuffled" and (group == -1 or size <= group):
        order = "plain"
    low = int(rng.integers(0, 2))
    config = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": order == "shuffled",
              "sym": False, "checkpoint_format": "gptq" if version == 1 else "gptq_v2"}
    if version == 1 and rng.random() < 0.3:
        del config["checkpoint_format"]
    return (lambda: qf.gptq(rng, out, size, group, bits, order, version, str(rng.choice(scales)), low), config,
            {"group_index"} if order == "shuffled" else set())


def compressed_case(rng):
    layout = str(rng.choice(["pack4", "pack8", "int8", "fp8"]))
    strategy = str(rng.choice(["tensor", "channel", "group", "block"]))
    group = int(rng.choice([16, 32, 128]))
    zeros = "none" if layout == "fp8" else str(rng.choice(["none", "bytes", "words"]))
    if zeros == "words" and (strategy in ("tensor", "block") or layout == "int8"):
        zeros = "bytes"
    order = "none" if strategy != "group" or layout == "fp8" else str(rng.choice(["none", "shuffled", "unset"]))
    size, out = int(rng.integers(2, 700)), int(rng.integers(2, 150))
    if strategy == "group":
        size = group * int(rng.integers(2, 9))
    index = {"group_index"} if order == "shuffled" else set()
    return (lambda: qf.compressed(rng, out, size, layout, strategy, group, zeros, order, str(rng.choice(scales))),
            qf.ct_config(layout, strategy, group, zeros, order), index | ({"zeros"} if zeros != "none" else set()))


def generated(plugin, case):
    rng = np.random.default_rng([SEED, len(plugin)])
    wanted, folders = [], []
    for n in range(CASES):
        make, config, planes = case(rng)
        names = [f"model.layers.{i}.mlp.up_proj" for i in range(2)]
        linears = [make() for _ in names]
        stored = {"model.embed_tokens.weight": rng.random((7, 5)).astype(np.float16),
                  "odd": ("I8", [3], b"abc"),  # what follows is not aligned
                  **{f"{name}.bias": rng.random(4).astype(np.float16) for name in names}}
        tensors = dict(stored)
        for name, (raw, _) in zip(names, linears):
            tensors.update(qf.module(name, raw))
        folders.append(scratch / f"{plugin}-{n}")
        qf.write_folder(folders[-1], tensors, config)
        wanted.append((names, linears, stored, planes, config))
    for folder, (names, linears, stored, planes, config), (tensors, floats) in zip(folders, wanted,
                                                                                 dump(plugin, folders)):
        said = (SEED, str(folder), config)
        assert set(tensors) == set(stored) | {f"{name}.weight" for name in names}, (said, tensors)
        at = 0
        for name, (_, weights) in zip(names, linears):
            got = floats[at:at + weights.size].reshape(weights.shape)
            at += weights.size
            assert tensors[f"{name}.weight"]["shape"] == list(weights.shape), said
            assert set(tensors[f"{name}.weight"]["planes"]) - {"codes", "scales", "zeros"} == planes - {"zeros"}, (
                said, tensors[f"{name}.weight"])
            assert np.array_equal(got.view(np.uint32) << 1, weights.view(np.uint32) << 1), said  # but for -0
            assert np.array_equal(got, weights), said
        assert at == floats.size, said


def fixtures():
    for folder in sorted(FIXTURES.iterdir()):
        golden = json.loads((folder / "golden.json").read_text())
        (tensors, floats), = dump(folder.name.split("-")[0], [folder])
        at, found = 0, 0
        for name, tensor in tensors.items():
            if tensor["format"].startswith("safetensors."):
                continue
            out, size = tensor["shape"]
            weight = floats[at:at + out * size].reshape(out, size)
            at += out * size
            check = golden["dequant_check"].get(name.removesuffix(".weight"))
            if check is None:
                continue
            found += 1
            assert [out, size] == [check["out"], check["in"]], name
            assert weight[0, :40].tolist() == check["row0_first40"], (folder, name)
            assert weight[-1, -8:].tolist() == check["last_row_last8"], (folder, name)
            assert abs(weight.sum(dtype=np.float64) - check["sum"]) < 1e-6 * max(1, abs(check["sum"])), (folder, name)
        assert found == len(golden["dequant_check"]), folder


print(f"MORTISE_SEED={SEED}")
fixtures()
generated("awq", awq_case)
generated("gptq", gptq_case)
generated("compressed_tensors", compressed_case)
