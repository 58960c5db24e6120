"""Writes models of which only headers are there, holes for data: Qwen2-7B as a Q4_K_M GGUF file, as a bf16 hub folder,
and as an AWQ folder of 4 bits in groups of 128. Returns the bytes of each tensor. Flow: imported by tests of what a
plan says before anything is loaded.
usage: header_models.py gguf|bf16|awq PATH"""
import json
import os
import pathlib
import struct
import sys

from gguf_edit import header

QWEN2_7B = {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
            "num_key_value_heads": 4, "vocab_size": 152064, "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
            "rope_theta": 1000000.0, "tie_word_embeddings": False, "model_type": "qwen2", "hidden_act": "silu",
            "architectures": ["Qwen2ForCausalLM"], "torch_dtype": "bfloat16", "use_sliding_window": False,
            "bos_token_id": 151643, "eos_token_id": 151645}
HEAD = 128
GGML = {"F32": (0, 1, 4), "Q4_K": (12, 256, 144), "Q6_K": (14, 256, 210)}  # number, block, bytes
GROUP = 128  # of AWQ


def linears(hf):
    """(hub name, GGUF name, out, in, has a bias) of a layer."""
    hidden, inner = hf["hidden_size"], hf["intermediate_size"]
    kv = hf["num_key_value_heads"] * HEAD
    return [("self_attn.q_proj", "attn_q", hidden, hidden, True), ("self_attn.k_proj", "attn_k", kv, hidden, True),
            ("self_attn.v_proj", "attn_v", kv, hidden, True),
            ("self_attn.o_proj", "attn_output", hidden, hidden, False),
            ("mlp.gate_proj", "ffn_gate", inner, hidden, False), ("mlp.up_proj", "ffn_up", inner, hidden, False),
            ("mlp.down_proj", "ffn_down", hidden, inner, False)]


def holes(path, head, size):
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(size)


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(path, hf=QWEN2_7B):
    """Q4_K_M: Q6_K for the head, and for v and ffn_down of the first and last eighth of the layers and of every third
    between."""
    hidden, vocab, layers = hf["hidden_size"], hf["vocab_size"], hf["num_hidden_layers"]
    tensors = [("token_embd.weight", (vocab, hidden), "Q4_K"), ("output_norm.weight", (hidden,), "F32"),
               ("output.weight", (vocab, hidden), "Q6_K")]
    for i in range(layers):
        more = i < layers // 8 or i >= 7 * layers // 8 or (i - layers // 8) % 3 == 2
        tensors += [(f"blk.{i}.{norm}.weight", (hidden,), "F32") for norm in ("attn_norm", "ffn_norm")]
        for _, name, rows, columns, bias in linears(hf):
            kind = "Q6_K" if more and name in ("attn_v", "ffn_down") else "Q4_K"
            tensors.append((f"blk.{i}.{name}.weight", (rows, columns), kind))
            if bias:
                tensors.append((f"blk.{i}.{name}.bias", (rows,), "F32"))
    u32, f32 = (lambda v: struct.pack("<II", 4, v)), (lambda v: struct.pack("<If", 6, v))
    keys = {"general.architecture": struct.pack("<I", 8) + text("qwen2"), "qwen2.block_count": u32(layers),
            "qwen2.context_length": u32(hf["max_position_embeddings"]), "qwen2.embedding_length": u32(hidden),
            "qwen2.feed_forward_length": u32(hf["intermediate_size"]),
            "qwen2.attention.head_count": u32(hf["num_attention_heads"]),
            "qwen2.attention.head_count_kv": u32(hf["num_key_value_heads"]),
            "qwen2.attention.layer_norm_rms_epsilon": f32(hf["rms_norm_eps"]),
            "qwen2.rope.freq_base": f32(hf["rope_theta"])}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(text(key) + value for key, value in keys.items())
    end, sizes = 0, {}
    for name, shape, kind in tensors:
        number, block, block_bytes = GGML[kind]
        sizes[name] = shape[-1] // block * block_bytes * (shape[0] if len(shape) == 2 else 1)
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape[::-1])
        head += struct.pack("<IQ", number, end)
        end += (sizes[name] + 31) // 32 * 32
    head += b"\0" * (-len(head) % 32)
    holes(path, head, len(head) + end)
    return sizes


def header_bytes(file):
    """Where the data of a GGUF file that gguf() wrote begins."""
    return header(file.read(1 << 20))[2]


def hub(folder, tensors, config):
    """`tensors`: name -> (dtype, bytes an element, shape). One safetensors file and config.json."""
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    described, end, sizes = {}, 0, {}
    for name, (dtype, width, shape) in tensors.items():
        sizes[name] = width
        for n in shape:
            sizes[name] *= n
        described[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + sizes[name]]}
        end += sizes[name]
    raw = json.dumps(described).encode()
    raw += b" " * (-len(raw) % 8)
    holes(os.path.join(folder, "model.safetensors"), struct.pack("<Q", len(raw)) + raw, 8 + len(raw) + end)
    pathlib.Path(folder, "config.json").write_text(json.dumps(config))
    return sizes


def bf16(folder, hf=QWEN2_7B):
    def plain(name, rows, columns):
        return {name + ".weight": ("BF16", 2, (rows, columns))}
    return hub(folder, _tensors(hf, "BF16", plain), hf)


def awq(folder, hf=QWEN2_7B):
    def quantized(name, rows, columns):
        return {name + ".qweight": ("I32", 4, (columns, rows // 8)),
                name + ".qzeros": ("I32", 4, (columns // GROUP, rows // 8)),
                name + ".scales": ("F16", 2, (columns // GROUP, rows))}
    scheme = {"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "gemm", "zero_point": True}
    return hub(folder, _tensors(hf, "F16", quantized),
               {**hf, "torch_dtype": "float16", "quantization_config": scheme})


def _tensors(hf, dtype, linear):
    hidden, vocab = hf["hidden_size"], hf["vocab_size"]
    out = {"model.embed_tokens.weight": (dtype, 2, (vocab, hidden)), "lm_head.weight": (dtype, 2, (vocab, hidden)),
           "model.norm.weight": (dtype, 2, (hidden,))}
    for i in range(hf["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            out[f"{layer}{norm}.weight"] = (dtype, 2, (hidden,))
        for name, _, rows, columns, bias in linears(hf):
            out.update(linear(layer + name, rows, columns))
            if bias:
                out[layer + name + ".bias"] = (dtype, 2, (rows,))
    return out


if __name__ == "__main__":
    made = {"gguf": gguf, "bf16": bf16, "awq": awq}[sys.argv[1]](sys.argv[2])
    print(f"{len(made)} tensors of {sum(made.values())} bytes")
