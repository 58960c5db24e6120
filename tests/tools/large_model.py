"""Makes a model of Qwen2-7B's shape whose numbers are all zero: a sparse file, so that it takes hardly any disk. For
tests of memory and of what explain says of large models. Flow: imported by tests, or run by hand:

usage: large_model.py KIND PATH [--header-only]    KIND: q4_0, q4_k_m or bf16 (a GGUF file), awq (a folder)
"""
import json
import math
import pathlib
import struct
import sys

LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, INNER, VOCAB, CONTEXT = 28, 3584, 28, 4, 128, 18944, 152064, 32768
ALIGN = 32
# Name in the hub, rows, columns of a layer's linear weights.
LINEAR = (("q_proj", HEADS * HEAD_DIM, HIDDEN), ("k_proj", KV_HEADS * HEAD_DIM, HIDDEN),
          ("v_proj", KV_HEADS * HEAD_DIM, HIDDEN), ("o_proj", HIDDEN, HIDDEN), ("gate_proj", INNER, HIDDEN),
          ("up_proj", INNER, HIDDEN), ("down_proj", HIDDEN, INNER))
BIASED = ("q_proj", "k_proj", "v_proj")
GGUF_NAMES = {"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output",
              "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down"}
# Type number, elements of a block, bytes of a block.
F32, Q4_0, Q4_K, Q6_K, BF16 = (0, 1, 4), (2, 32, 18), (12, 256, 144), (14, 256, 210), (30, 1, 2)


GGUF_TYPES = {"q4_0": Q4_0, "q4_k_m": Q4_K, "bf16": BF16}


def table_bytes(kind):
    """Of the table of embeddings."""
    _, elements, size = GGUF_TYPES.get(kind, BF16)
    return VOCAB * HIDDEN // elements * size


def has_more_bits(layer):
    """Which layers of a Q4_K_M model keep values and ffn_down in Q6_K."""
    eighth = LAYERS // 8
    return layer < eighth or layer >= 7 * LAYERS // 8 or (layer - eighth) % 3 == 2


def gguf_tensors(kind):
    """(name, shape with the rows first, type) of every tensor."""
    main = GGUF_TYPES[kind]
    better = Q6_K if kind == "q4_k_m" else main
    yield "token_embd.weight", [VOCAB, HIDDEN], main
    for i in range(LAYERS):
        more = better if has_more_bits(i) else main
        for name, rows, cols in LINEAR:
            yield f"blk.{i}.{GGUF_NAMES[name]}.weight", [rows, cols], more if name in ("v_proj", "down_proj") else main
            if name in BIASED:
                yield f"blk.{i}.{GGUF_NAMES[name]}.bias", [rows], F32
        yield f"blk.{i}.attn_norm.weight", [HIDDEN], F32
        yield f"blk.{i}.ffn_norm.weight", [HIDDEN], F32
    yield "output_norm.weight", [HIDDEN], F32
    yield "output.weight", [VOCAB, HIDDEN], better


def gguf_header(kind):
    """(the file's bytes before the data, bytes of data)."""
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()
    keys = [text("general.architecture") + struct.pack("<I", 8) + text("qwen2")]
    for key, value in (("block_count", LAYERS), ("context_length", CONTEXT), ("embedding_length", HIDDEN),
                       ("feed_forward_length", INNER), ("attention.head_count", HEADS),
                       ("attention.head_count_kv", KV_HEADS)):
        keys.append(text("qwen2." + key) + struct.pack("<II", 4, value))
    for key, value in (("rope.freq_base", 1e6), ("attention.layer_norm_rms_epsilon", 1e-6)):
        keys.append(text("qwen2." + key) + struct.pack("<If", 6, value))
    infos, at = [], 0
    for name, shape, (number, elements, size) in gguf_tensors(kind):
        infos.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), number, at))
        at += math.prod(shape) // elements * size
        at += -at % ALIGN
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys)) + b"".join(keys + infos)
    return head + b"\0" * (-len(head) % ALIGN), at


def awq_tensors(group=128):
    """(name, shape, dtype) of every tensor of the hub folder."""
    yield "model.embed_tokens.weight", [VOCAB, HIDDEN], "F16"
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        for name, rows, cols in LINEAR:
            module = layer + ("mlp." if INNER in (rows, cols) else "self_attn.") + name
            yield module + ".qweight", [cols, rows // 8], "I32"
            yield module + ".qzeros", [cols // group, rows // 8], "I32"
            yield module + ".scales", [cols // group, rows], "F16"
            if name in BIASED:
                yield module + ".bias", [rows], "F16"
        yield layer + "input_layernorm.weight", [HIDDEN], "F16"
        yield layer + "post_attention_layernorm.weight", [HIDDEN], "F16"
    yield "model.norm.weight", [HIDDEN], "F16"
    yield "lm_head.weight", [VOCAB, HIDDEN], "F16"


def awq_header():
    tensors, at = {}, 0
    for name, shape, dtype in awq_tensors():
        size = math.prod(shape) * {"I32": 4, "F16": 2}[dtype]
        tensors[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    head = json.dumps(tensors).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head, at


AWQ_CONFIG = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": HIDDEN,
              "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
              "num_key_value_heads": KV_HEADS, "vocab_size": VOCAB, "max_position_embeddings": CONTEXT,
              "rope_theta": 1e6, "rms_norm_eps": 1e-6, "hidden_act": "silu", "tie_word_embeddings": False,
              "torch_dtype": "float16", "use_sliding_window": False,
              "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm",
                                      "zero_point": True, "modules_to_not_convert": None}}


def make(kind, path, header_only=False):
    """Writes the model and returns its path."""
    path = pathlib.Path(path)
    target = path
    if kind == "awq":
        path.mkdir(parents=True, exist_ok=True)
        (path / "config.json").write_text(json.dumps(AWQ_CONFIG))
        target = path / "model.safetensors"
    head, size = awq_header() if kind == "awq" else gguf_header(kind)
    with open(target, "wb") as file:
        file.write(head)
        if not header_only:
            file.truncate(len(head) + size)
    return path


if __name__ == "__main__":
    print(make(sys.argv[1], sys.argv[2], "--header-only" in sys.argv))
