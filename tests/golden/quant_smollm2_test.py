"""Layers of SmolLM2, rounded with numpy to every scheme that the plugins awq, gptq and compressed_tensors read, give
the bits that the same weights widened to float32 give, and stay close to the model they were rounded from.

usage: quant_smollm2_test.py   Thread rule: one thread. Flow: run by CTest; 77 without the model.
"""
import json
import pathlib
import sys
import tempfile

from harness import SKIP, SMOLLM2, SOURCE, Checks, jsonl

if not SMOLLM2.exists():
    print(f"{SMOLLM2} is not there")
    sys.exit(SKIP)
import gguf  # noqa: E402
import numpy as np  # noqa: E402

sys.path.append(str(SOURCE / "tests/plugins/weights/planar"))
import quant_files as qf  # noqa: E402

LAYERS, HIDDEN, HEADS = 4, 576, {"q_proj": 9, "k_proj": 3}
NAMES = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
         "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
TOKENS = [504, 2684, 282, 260, 905, 314, 253, 1838, 281, 3120, 4923, 28, 284, 357, 506, 325] * 3


def read_model():
    """(linears, all else) by hub name: the first layers, embedding and last norm."""
    linears, rest = {}, {}
    for tensor in gguf.GGUFReader(SMOLLM2).tensors:
        part = tensor.name.split(".")
        if part[0] == "blk" and int(part[1]) >= LAYERS:
            continue
        value = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if part[0] != "blk":
            rest[{"token_embd": "model.embed_tokens.weight", "output_norm": "model.norm.weight"}[part[0]]] = (
                value.astype(np.float16))
            continue
        name = f"model.layers.{part[1]}.{NAMES[part[2]]}"
        heads = HEADS.get(name.rsplit(".", 1)[1])
        if heads:  # GGUF has RoPE's pairs side by side
            value = value.reshape(heads, -1, 2, HIDDEN).swapaxes(1, 2).reshape(-1, HIDDEN)
        if value.ndim == 1:
            rest[name + ".weight"] = value
        else:
            linears[name] = value
    return linears, rest


def schemes(rng):
    """name -> (quantization_config, function of a weight, how far the mean log-probability may lie off)"""
    def awq(weight):
        of = np.arange(weight.shape[1]) // 64
        return qf.awq_of(*qf.rounded(weight, of, 4), of)

    def gptq(bits, group, version, is_ordered):
        def make(weight):
            size = weight.shape[1]
            of = np.arange(size) // (size if group == -1 else group)
            if is_ordered:
                rng.shuffle(of)
            return qf.gptq_of(*qf.rounded(weight, of, bits), of, bits, version, True)
        return {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": is_ordered,
                "checkpoint_format": "gptq" if version == 1 else "gptq_v2"}, make

    def compressed(layout, strategy, size):
        return (qf.ct_config(layout, strategy, size, "words" if layout == "pack4" else "none"),
                lambda weight: qf.compressed_of(weight, layout, size))

    return {"awq": ({"quant_method": "awq", "bits": 4, "group_size": 64, "version": "gemm"}, awq, 0.5),
            "gptq-4": (*gptq(4, 32, 1, True), 0.5), "gptq-8": (*gptq(8, -1, 2, False), 0.1),
            "pack4": (*compressed("pack4", "group", 32), 0.5), "int8": (*compressed("int8", "channel", 0), 0.1),
            "fp8": (*compressed("fp8", "block", 64), 0.2)}


def write(path, tensors, quantization):
    qf.write_folder(path, tensors, quantization)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN,
              "num_hidden_layers": LAYERS, "num_attention_heads": HEADS["q_proj"], "intermediate_size": 1536,
              "num_key_value_heads": HEADS["k_proj"], "vocab_size": 49152, "max_position_embeddings": 8192,
              "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 100000.0, "tie_word_embeddings": True,
              "bos_token_id": 1, "eos_token_id": 2}
    if quantization:
        config["quantization_config"] = quantization
    (path / "config.json").write_text(json.dumps(config))


def logprobs(path):
    answer, = jsonl(path, [{"id": 1, "tokens": TOKENS, "max_tokens": 0, "echo": True, "top_logprobs": 5}],
                    use__tokenizer="none", kernels__pin='{ "*" = "reference" }').values()
    return answer["logprobs"]


def mean(found):
    return sum(entry["logprob"] for entry in found[1:]) / (len(found) - 1)


def main():
    checks, rng = Checks(), np.random.default_rng(1)
    linears, rest = read_model()
    with tempfile.TemporaryDirectory() as folder:
        plain, small = pathlib.Path(folder) / "plain", pathlib.Path(folder) / "small"
        write(plain, {**rest, **{f"{name}.weight": np.ascontiguousarray(w) for name, w in linears.items()}}, None)
        original = mean(logprobs(plain))
        for scheme, (config, make, loss) in schemes(rng).items():
            tensors, wide = dict(rest), dict(rest)
            for name, weight in linears.items():
                raw, value = make(weight)
                tensors.update(qf.module(name, raw))
                wide[f"{name}.weight"] = np.ascontiguousarray(value, np.float32)
            write(small, tensors, config)
            write(plain, wide, None)
            found = logprobs(small)
            checks.that(found == logprobs(plain), scheme, "gives other bits than its weights in float32")
            checks.that(abs(original - mean(found)) < loss, scheme, "mean log-probability", mean(found), "of", original)
            print(f"{scheme}: {mean(found):.4f} of {original:.4f}")
    checks.done()


main()
