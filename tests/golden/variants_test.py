"""The same tiny model spelled otherwise gives the same golden values: RoPE in either spelling, a text part one level
down, tensors without the head's prefix, experts apart or fused, an output head of its own; and gpt-oss in MXFP4 as its
decoded values. What is not understood is refused by name.

Flow: run by CTest; the variants are made out of the fixtures.
"""
import json
import pathlib
import shutil
import tempfile

import compare
import numpy as np
import to_gguf
from harness import DATA, Checks, jsonl, mortise, settings
from mxfp4 import in_mxfp4
from safetensors.numpy import save_file

checks = Checks()
place = pathlib.Path(tempfile.mkdtemp(prefix="mortise-variants-"))
RUN = {"kv__dtype": "f32", "use__tokenizer": "none", "use__attention": "naive", "kernels__pin": '{ "*" = "reference" }'}


def source_of(name):
    return next(root / name for root in (DATA / "fixtures/tiny", DATA / "families") if (root / name).exists())


def made(name, config, tensors=None):
    """A folder of the fixture with another config, and perhaps other tensors (as float32)."""
    folder = place / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source_of(name), folder)
    (folder / "config.json").write_text(json.dumps(config))
    if tensors is not None:
        save_file({key: np.ascontiguousarray(value) for key, value in tensors.items()}, folder / "model.safetensors")
    return folder


def same(what, name, config, tensors=None):
    cases = json.loads((source_of(name) / "golden.json").read_text())["cases"][:3]
    requests = compare.greedy_requests(cases) + compare.score_requests(cases)
    try:
        compare.check_cases(checks, what, jsonl(made(name, config, tensors), requests, **RUN), cases, compare.F32)
    except AssertionError as error:
        checks.that(False, what, error)


def refused(name, changes, *words, tensors=None):
    folder = made(name, {**config_of(name), **changes}, tensors)
    out = mortise("explain", "jsonl", "-m", folder, *settings(use__tokenizer="none"))
    checks.that(out.returncode == 1 and out.stderr.count("\n") == 1 and all(w in out.stderr for w in words),
                name, changes, out.stderr)


def config_of(name):
    return json.loads((source_of(name) / "config.json").read_text())


def renamed(name, change):
    return {change(key): value for key, value in to_gguf.tensors_of(source_of(name)).items()}


def spellings_of_rope():
    for name in ("llama-rope-llama3", "llama-rope-linear", "qwen2-yarn"):
        config = config_of(name)
        rope = config.pop("rope_scaling")
        rope["rope_type"] = rope.pop("rope_type", None) or rope.pop("type")
        rope["rope_theta"] = config.pop("rope_theta")
        same(f"{name} as rope_parameters", name, {**config, "rope_parameters": rope})
    config = config_of("llama-rope-yarn")
    rope = config.pop("rope_parameters")
    theta = rope.pop("rope_theta")
    same("yarn as rope_scaling", "llama-rope-yarn", {**config, "rope_theta": theta, "rope_scaling": rope})
    config = config_of("gemma3")
    bases = {"full_attention": config.pop("rope_theta"), "sliding_attention": config.pop("rope_local_base_freq")}
    config.pop("layer_types")
    ropes = {kind: {"rope_type": "default", "rope_theta": base} for kind, base in bases.items()}
    same("gemma3 by kind of layer", "gemma3", {**config, "rope_parameters": ropes})


def places_of_tensors():
    config = config_of("gemma3")
    del config["rms_norm_eps"], config["max_position_embeddings"]  # which are as in the config's class
    for before in ("language_model.model.", "model.language_model."):
        same(f"gemma3 under {before}", "gemma3", {"model_type": "gemma3", "text_config": config},
             renamed("gemma3", lambda key, before=before: key.replace("model.", before, 1)))
    same("gpt2 without its prefix", "gpt2", config_of("gpt2"),
         renamed("gpt2", lambda key: key.replace("transformer.", "", 1)))
    tensors = to_gguf.tensors_of(source_of("qwen2"))
    same("qwen2 with a head of its own", "qwen2", {**config_of("qwen2"), "tie_word_embeddings": False},
         {**tensors, "lm_head.weight": tensors["model.embed_tokens.weight"]})
    for name in ("qwen3_moe", "mixtral"):
        config = config_of(name)
        fused, stacked = {}, to_gguf.stacked(to_gguf.tensors_of(source_of(name)), config)
        for key, value in stacked.items():
            if ".up_proj.weight" in key and ".experts." in key:
                pair = [stacked[key.replace("up_proj", "gate_proj")], value]
                fused[key.replace("up_proj.weight", "gate_up_proj")] = np.concatenate(pair, axis=1)
            elif ".gate_proj.weight" not in key:
                fused[key.replace("down_proj.weight", "down_proj") if ".experts." in key else key] = value
        same(f"{name} fused", name, config, fused)


def experts_in_mxfp4():
    packed, plain = {}, {}
    for key, value in to_gguf.tensors_of(source_of("gpt_oss")).items():
        if key.endswith(("gate_up_proj", "down_proj")):
            packed[key + "_blocks"], packed[key + "_scales"], plain[key] = in_mxfp4(value)
        else:
            packed[key] = plain[key] = value
    config = config_of("gpt_oss")
    quantized = {**config, "quantization_config": {"quant_method": "mxfp4"}}
    cases = json.loads((source_of("gpt_oss") / "golden.json").read_text())["cases"]
    requests = compare.greedy_requests(cases)
    got = jsonl(made("gpt_oss", quantized, packed), requests, **RUN)
    want = jsonl(made("gpt_oss", config, plain), requests, **RUN)
    for key, answer in want.items():
        near = np.abs(np.array(answer["logprobs"][0]["top"]) - np.array(got[key]["logprobs"][0]["top"])).max() < 1e-4
        checks.that(near and answer["tokens"] == got[key]["tokens"], "gpt_oss in mxfp4", key)


spellings_of_rope()
places_of_tensors()
experts_in_mxfp4()
refused("llama", {"rope_scaling": {"rope_type": "spiral", "factor": 2.0}}, "rope_type", "spiral", "yarn")
refused("llama", {"hidden_act": "quick_gelu"}, "hidden_act", "quick_gelu", "silu")
refused("qwen3", {"layer_types": ["full_attention", "linear_attention"]}, "layer_types", "linear_attention")
refused("stablelm", {"qk_layernorm": True}, "qk_layernorm")
refused("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx")
refused("llama", {"model_type": "falcon"}, "model_type", "falcon", "llama")
refused("llama", {"partial_rotary_factor": 1.5}, "partial_rotary_factor")
refused("granite", {"attention_multiplier": -1}, "attention_multiplier")
extra = {"model.layers.0.self_attn.q_norm.weight": np.ones(16, np.float32)}
refused("stablelm", {}, "self_attn.q_norm", tensors={**to_gguf.tensors_of(source_of("stablelm")), **extra})

# A context beyond the trained one: a warning in explain and in the log, unless scaling covers it.
for name, context, is_told in (("llama", 1000, True), ("llama", 512, False), ("llama-rope-dynamic", 250, False),
                               ("llama-rope-dynamic", 257, True)):
    common = ["jsonl", "-m", source_of(name), *settings(use__tokenizer="none", model__context=context)]
    told = [any("trained for" in line for line in json.loads(mortise("explain", *common, "--json").stdout)["warnings"]),
            "trained for" in mortise("run", *common, stdin="").stderr]
    checks.that(told == [is_told] * 2, name, context, told)
shutil.rmtree(place)
checks.done()
