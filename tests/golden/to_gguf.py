"""A tiny hub folder as a GGUF file of F32 tensors: llama.cpp's names (out of the gguf package's own map), its order of
q and k, its keys. What GGUF cannot say is an Unsayable.

Flow: imported by gguf_families_test.py.
"""
import json
import math

import gguf
import numpy as np

ARCH = {"gpt_oss": "gpt-oss", "qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe", "gemma3_text": "gemma3",
        "mistral": "llama", "mixtral": "llama"}
PERMUTED = {"llama", "mistral", "mixtral", "granite", "smollm3"}
PLUS_ONE = {"gemma", "gemma2", "gemma3_text"}


class Unsayable(Exception):
    """The folder's config has what GGUF has no key for."""


def tensors_of(folder):
    """name -> float32 array, of every .safetensors file."""
    out = {}
    for path in sorted(folder.glob("*.safetensors")):
        data = path.read_bytes()
        size = int.from_bytes(data[:8], "little")
        for name, row in json.loads(data[8:8 + size]).items():
            if name == "__metadata__":
                continue
            raw = data[8 + size + row["data_offsets"][0]:8 + size + row["data_offsets"][1]]
            if row["dtype"] == "BF16":
                value = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
            else:
                value = np.frombuffer(raw, {"F32": "<f4", "F16": "<f2"}[row["dtype"]]).astype(np.float32)
            out[name] = value.reshape(row["shape"])
    return out


def permuted(rows, heads):
    """Row i + j * half of each head becomes row 2i + j."""
    return rows.reshape(heads, 2, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def stacked(tensors, config):
    """Experts as GGUF has them: one array for gate, up and down of a layer."""
    out, each = {}, {}
    parts = {"w1": "gate_proj", "w3": "up_proj", "w2": "down_proj"}
    for name, value in tensors.items():
        head, found, tail = name.partition(".experts.")
        if not found:
            is_mixtral = config["model_type"] == "mixtral"
            out[name.replace(".mlp.gate.", ".block_sparse_moe.gate.") if is_mixtral else name] = value
            continue
        base = head.replace("block_sparse_moe", "mlp") + ".experts."
        if tail[0].isdigit():
            number, part, _ = tail.split(".")
            each.setdefault(base + parts.get(part, part), {})[int(number)] = value
        elif config["model_type"] == "gpt_oss":
            if tail.endswith("_bias"):
                half = {"down_proj": value}
                if "gate_up" in tail:
                    half = {"gate_proj": value[:, ::2], "up_proj": value[:, 1::2]}
                out.update({base + part + ".bias": x for part, x in half.items()})
            elif "gate_up" in tail:
                out.update({base + "gate_proj.weight": value[:, :, ::2].swapaxes(1, 2),
                            base + "up_proj.weight": value[:, :, 1::2].swapaxes(1, 2)})
            else:
                out[base + "down_proj.weight"] = value.swapaxes(1, 2)
        elif "gate_up" in tail:
            gate, up = np.split(value, 2, axis=1)
            out.update({base + "gate_proj.weight": gate, base + "up_proj.weight": up})
        else:
            out[base + "down_proj.weight"] = value
    for name, values in each.items():
        out[name + ".weight"] = np.stack([values[i] for i in range(len(values))])
    return out


def changed(name, value, config):
    """The values as GGUF has them."""
    kind = config["model_type"]
    heads = config.get("num_attention_heads")
    if kind in PERMUTED and ".q_proj." in name:
        return permuted(value, heads)
    if kind in PERMUTED and ".k_proj." in name:
        return permuted(value, config.get("num_key_value_heads", heads))
    if kind in PLUS_ONE and name.endswith("norm.weight"):
        return value + 1
    if kind == "gpt2" and ".weight" in name and any(x in name for x in ("c_attn", "c_proj", "c_fc")):
        return value.T
    return value.reshape(-1) if "shared_expert_gate" in name else value


def rope_of(config):
    rope = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
    rope = {**rope.get("full_attention", rope), "local": rope.get("sliding_attention", {})}
    rope.setdefault("rope_type", rope.get("type", "default"))
    rope.setdefault("rope_theta", config.get("rope_theta"))
    return rope


def llama3_factors(rope, dims):
    out = []
    for i in range(dims // 2):
        length = 2 * math.pi * rope["rope_theta"] ** (2 * i / dims)
        turns = rope["original_max_position_embeddings"] / length
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        kept = min(max((turns - low) / (high - low), 0), 1)
        out.append(1 / ((1 - kept) / rope["factor"] + kept))
    return np.array(out, np.float32)


def write_rope(w, arch, config, head_dim):
    rope = rope_of(config)
    share = config.get("partial_rotary_factor", rope.get("partial_rotary_factor", 1))
    dims, kind = int(head_dim * share), rope["rope_type"]
    w.add_rope_dimension_count(dims)
    w.add_rope_freq_base(rope["rope_theta"])
    if config["model_type"] == "gemma3_text" and rope["local"]:
        w.add_float32("gemma3.rope.freq_base_swa", rope["local"]["rope_theta"])
    if kind in ("linear", "yarn"):
        w.add_rope_scaling_type(gguf.RopeScalingType(kind))
        w.add_rope_scaling_factor(rope["factor"])
    if kind == "yarn":
        if rope.get("mscale") or (rope.get("truncate") is False and config["model_type"] != "gpt_oss"):
            raise Unsayable("yarn with mscale, or without rounding")
        w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        for key, name in (("beta_fast", "beta_fast"), ("beta_slow", "beta_slow"), ("attention_factor", "attn_factor")):
            if key in rope:
                w.add_float32(f"{arch}.rope.scaling.yarn_{name}", rope[key])
    elif kind == "llama3":
        w.add_tensor("rope_freqs.weight", llama3_factors(rope, dims))
    elif kind == "longrope":
        original = config["original_max_position_embeddings"]
        stretch = math.log(config["max_position_embeddings"] / original) / math.log(original)
        w.add_rope_scaling_orig_ctx_len(original)
        w.add_rope_scaling_attn_factors(math.sqrt(1 + stretch))
        for length in ("long", "short"):
            w.add_tensor(f"rope_factors_{length}.weight", np.array(rope[length + "_factor"], np.float32))
    elif kind not in ("default", "linear"):
        raise Unsayable(f"rope {kind}")


def write_windows(w, arch, config):
    types, window = config.get("layer_types"), config.get("sliding_window")
    if config["model_type"] in ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3"):
        if config.get("use_sliding_window") or config.get("no_rope_layer_interval", 4) != 4:
            raise Unsayable("windows of some layers, or RoPE of others than every fourth")
    elif window:
        w.add_sliding_window(window)
        if types and config["num_hidden_layers"] % 6:
            w.add_array(f"{arch}.attention.sliding_window_pattern", [kind == "sliding_attention" for kind in types])


def write_keys(w, arch, config):
    layers = config.get("num_hidden_layers", config.get("n_layer"))
    hidden = config.get("hidden_size", config.get("n_embd"))
    heads = config.get("num_attention_heads", config.get("n_head"))
    head_dim = config.get("head_dim") or hidden // heads
    w.add_block_count(layers)
    w.add_embedding_length(hidden)
    w.add_head_count(heads)
    w.add_head_count_kv(config.get("num_key_value_heads") or heads)
    w.add_context_length(config.get("max_position_embeddings", config.get("n_positions")))
    w.add_feed_forward_length(config.get("intermediate_size", 4 * hidden))
    w.add_vocab_size(config["vocab_size"])
    w.add_key_length(head_dim)
    w.add_value_length(head_dim)
    if "rms_norm_eps" in config:
        w.add_layer_norm_rms_eps(config["rms_norm_eps"])
    else:
        w.add_layer_norm_eps(config.get("layer_norm_eps", config.get("norm_epsilon", config.get("layer_norm_epsilon"))))
    if config["model_type"] != "gpt2":
        write_rope(w, arch, config, head_dim)
    write_windows(w, arch, config)
    if config.get("query_pre_attn_scalar", head_dim) != head_dim:
        w.add_attention_scale(config["query_pre_attn_scalar"] ** -0.5)
    experts = config.get("num_experts", config.get("num_local_experts"))
    if experts:
        w.add_expert_count(experts)
        w.add_expert_used_count(config["num_experts_per_tok"])
        w.add_expert_feed_forward_length(config.get("moe_intermediate_size", config["intermediate_size"]))
        if "shared_expert_intermediate_size" in config:
            w.add_expert_shared_feed_forward_length(config["shared_expert_intermediate_size"])
        if arch == "qwen2moe" and config["norm_topk_prob"]:
            w.add_expert_weights_norm(True)
    for key, add in (("embedding_multiplier", w.add_embedding_scale), ("residual_multiplier", w.add_residual_scale),
                     ("attention_multiplier", w.add_attention_scale), ("logits_scaling", w.add_logit_scale),
                     ("attn_logit_softcapping", w.add_attn_logit_softcapping),
                     ("final_logit_softcapping", w.add_final_logit_softcapping),
                     ("use_parallel_residual", w.add_parallel_residual)):
        if config.get(key) is not None:
            add(config[key])


def convert(folder, path):
    """Writes the GGUF file of a hub folder."""
    config = json.loads((folder / "config.json").read_text())
    arch = ARCH.get(config["model_type"], config["model_type"])
    w = gguf.GGUFWriter(path, arch)
    w.add_string("tokenizer.ggml.model", "no_vocab")
    write_keys(w, arch, config)
    which = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == arch)
    names = gguf.get_tensor_name_map(which, config.get("num_hidden_layers", config.get("n_layer")))
    for name, value in stacked(tensors_of(folder), config).items():
        name += ".weight" if name.endswith("sinks") else ""
        new = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if new is None:
            raise Unsayable(f"{name} has no name")
        w.add_tensor(new, np.ascontiguousarray(changed(name, value, config), np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
