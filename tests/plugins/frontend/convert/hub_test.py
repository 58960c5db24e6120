"""Hub folders that are not as the usual ones: experts in MXFP4 become plain ones of the same values, empty tensors come
along, and tensors of impossible shapes are an error in one line."""
import json
import pathlib
import shutil
import tempfile

from harness import DATA, Checks, jsonl
from safetensors.numpy import load_file, save_file

from conversion import compare, convert, converted

import numpy as np  # noqa: E402
import to_gguf  # noqa: E402
from mxfp4 import in_mxfp4  # noqa: E402

checks = Checks()
place = pathlib.Path(tempfile.mkdtemp(prefix="mortise-convert-"))
ROOTS = (DATA / "fixtures/tiny", DATA / "families")


def made(name, change, **config):
    """The fixture with tensors (as float32) and keys that `change` and `config` give."""
    source = next(root / name for root in ROOTS if (root / name).exists())
    folder = place / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    tensors = change(to_gguf.tensors_of(source))
    save_file({key: np.ascontiguousarray(value) for key, value in tensors.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**json.loads((source / "config.json").read_text()), **config}))
    return folder


def in_blocks(tensors):
    out = {}
    for key, value in tensors.items():
        if key.endswith(("gate_up_proj", "down_proj")):
            out[key + "_blocks"], out[key + "_scales"], _ = in_mxfp4(value)
        else:
            out[key] = value
    return out


# Every value of MXFP4 is one of bfloat16 too.
blocks = made("gpt_oss", in_blocks, quantization_config={"quant_method": "mxfp4"})
cases = json.loads((DATA / "families/gpt_oss/golden.json").read_text())["cases"][:3]
requests = compare.greedy_requests(cases)
for to, name in (("safetensors-bf16", "plain"), ("gguf-bf16", "plain.gguf")):
    plain = converted(checks, blocks, to, place / name)
    if plain is not None:
        run = {"kv__dtype": "f32", "use__tokenizer": "none"}
        want, got = (jsonl(model, requests, **run) for model in (blocks, plain))
        for key, answer in want.items():
            near = np.abs(np.array(answer["logprobs"][0]["top"]) - np.array(got[key]["logprobs"][0]["top"])).max()
            checks.that(near < 1e-4 and answer["tokens"] == got[key]["tokens"], to, key, near)

empty = {"empty": np.zeros(0, np.float32), "rows_of_none": np.zeros((16, 0), np.float32),
         "none": np.zeros((0, 64), np.float32)}
for to, group in (("safetensors-f16", 128), ("awq", -1), ("awq", 32)):
    out = converted(checks, made("llama", lambda tensors: {**tensors, **empty}), to, place / f"{to}{group}",
                    plugin__convert__group_size=group)
    if out is not None:
        back = load_file(out / "model.safetensors")
        checks.that(all(back[key].shape == value.shape for key, value in empty.items()), to, "empty tensors")


def broken(name, key, shape, is_told=True):
    """The fixture with one tensor of another shape: no signal, and told where it decides how others are cut."""
    def change(tensors):
        assert key in tensors, sorted(tensors)
        return {**tensors, key: np.zeros(shape, np.float32)}
    run = convert(made(name, change), "gguf-f16", place / "broken.gguf")
    (place / "broken.gguf").unlink(missing_ok=True)
    if not is_told and run.returncode == 0:
        return
    checks.that(run.returncode == 1 and run.stderr.startswith("mortise: error: ") and run.stderr.count("\n") == 1,
                name, key, shape, run.returncode, run.stderr[-400:])


for shape in ((5,), (2, 3, 4, 5), (3, 16)):
    broken("mixtral", "model.layers.0.block_sparse_moe.experts.0.w1.weight", shape)
broken("mixtral-fused", "model.layers.0.mlp.experts.down_proj", (8,))
broken("llama-f32-tied-bias", "model.layers.0.self_attn.q_proj.bias", (3,))
broken("gpt2", "transformer.h.0.mlp.c_proj.weight", (5,), is_told=False)
shutil.rmtree(place)
checks.done()
