"""Makes the tiny models of tests/data/families and their golden values with transformers on the CPU.

usage: make_families.py FOLDER NAME...   needs torch and transformers 5.24, which no test needs

Weights are random, rounded to bf16; the golden values are float32 arithmetic on them, eager attention, no cache, in the
format "tiny-golden-1" of tests/data/fixtures/README.md. A seed is taken whose greedy path has a margin of 0.004
standard deviations, so that rounding cannot turn it.
"""
import json
import math
import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

COMMON = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "intermediate_size": 96, "vocab_size": 320, "max_position_embeddings": 512, "bos_token_id": 1,
          "eos_token_id": 2, "pad_token_id": 0}
# Entries of config.json beside COMMON; "fused": experts are saved as transformers 5 holds them.
MODELS = {
    "gemma": {"model_type": "gemma", "hidden_act": "gelu", "head_dim": 24, "num_key_value_heads": 1,
              "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "tie_word_embeddings": True},
    "starcoder2": {"model_type": "starcoder2", "hidden_act": "gelu_pytorch_tanh", "norm_epsilon": 1e-5,
                   "sliding_window": 24, "use_bias": True, "rope_theta": 100000.0, "tie_word_embeddings": True},
    "gpt_oss": {"model_type": "gpt_oss", "head_dim": 16, "intermediate_size": 32,
                "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 32, "rms_norm_eps": 1e-5,
                "rope_parameters": {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 4.0, "beta_fast": 32.0,
                                    "beta_slow": 1.0, "truncate": False, "original_max_position_embeddings": 128},
                "attention_bias": True, "swiglu_limit": 7.0, "fused": True},
    "llama-rope-dynamic": {"model_type": "llama", "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
                           "rope_theta": 10000.0, "rope_scaling": {"type": "dynamic", "factor": 2.0},
                           "tie_word_embeddings": False},
    "llama-rope-yarn-mscale": {"model_type": "llama", "rms_norm_eps": 1e-5, "rope_theta": 20000.0,
                               "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "beta_fast": 24.0,
                                                "beta_slow": 2.0, "mscale": 0.7, "mscale_all_dim": 1.2,
                                                "truncate": False, "original_max_position_embeddings": 64},
                               "tie_word_embeddings": False},
    "qwen2-window": {"model_type": "qwen2", "num_hidden_layers": 3, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0,
                     "use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1,
                     "tie_word_embeddings": True},
    "qwen2_moe-mixed": {"model_type": "qwen2_moe", "num_hidden_layers": 4, "intermediate_size": 48,
                        "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "moe_intermediate_size": 16,
                        "shared_expert_intermediate_size": 24,
                        "num_experts": 4, "num_experts_per_tok": 2, "norm_topk_prob": True, "decoder_sparse_step": 2,
                        "mlp_only_layers": [3], "use_sliding_window": False, "tie_word_embeddings": True,
                        "fused": True},
    "mixtral-fused": {"model_type": "mixtral", "rms_norm_eps": 1e-5, "rope_theta": 1000000.0, "num_local_experts": 3,
                      "num_experts_per_tok": 2, "intermediate_size": 72, "sliding_window": 40,
                      "tie_word_embeddings": True, "fused": True},
    "smollm3-window": {"model_type": "smollm3", "rms_norm_eps": 1e-6, "rope_theta": 2000000.0,
                       "no_rope_layer_interval": 2, "use_sliding_window": True, "sliding_window": 24,
                       "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
    "olmo2-mha": {"model_type": "olmo2", "num_key_value_heads": 4, "rms_norm_eps": 1e-6, "hidden_size": 48,
                  "rope_theta": 500000.0, "attention_bias": True, "tie_word_embeddings": False},
    "stablelm-parallel": {"model_type": "stablelm", "use_parallel_residual": True, "use_qkv_bias": False,
                          "layer_norm_eps": 1e-5, "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default",
                                                                      "partial_rotary_factor": 0.5},
                          "tie_word_embeddings": False},
    # A family that arch/decoder has not: of examples/arch-olmo, in data/families_of_examples.
    "olmo": {"model_type": "olmo", "hidden_act": "silu", "rope_theta": 10000.0, "tie_word_embeddings": False},
    "gemma3-types": {"model_type": "gemma3_text", "num_hidden_layers": 3, "head_dim": 16, "num_key_value_heads": 1,
                     "rms_norm_eps": 1e-6, "query_pre_attn_scalar": 20, "sliding_window": 24,
                     "hidden_activation": "gelu_pytorch_tanh", "final_logit_softcapping": 12.0,
                     "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
                     "rope_parameters": {
                         "full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 500000.0},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 5000.0}},
                     "tie_word_embeddings": True},
}
PROMPTS = (1, 5, 40, 200)
GREEDY = 16


def rounded(number):
    return float(f"{float(number):.7g}")


def make(config, seed):
    """The model of random weights: matrices such that activations keep their size, gains and biases about their own."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 1 or name.endswith("_bias"):
                centre = 1.0 if "norm" in name and name.endswith("weight") and "gemma" not in config.model_type else 0.0
                value = centre + 0.2 * torch.randn_like(weight)
            else:
                # Scores must differ from row to row, or windows and RoPE could not be told from their absence.
                gain = 3.0 if "q_proj" in name or "k_proj" in name else 1.5
                value = gain * torch.randn_like(weight) / math.sqrt(config.hidden_size)
            weight.copy_(value.to(torch.bfloat16).float())
    return model


def logits_of(model, ids, length):
    """Logits at every position; RoPE that depends on the length as for a sequence of `length` tokens."""
    rotary = model.model.rotary_emb
    if getattr(rotary, "rope_type", None) == "dynamic":
        rotary.max_seq_len_cached = 0  # so that the frequencies are made anew
        compute, most = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["dynamic"], max(length, len(ids))
        rotary.inv_freq, _ = compute(model.config, None, seq_len=most)
        rotary.max_seq_len_cached, rotary.original_max_seq_len = 10**6, -1
    with torch.no_grad():
        return model(torch.tensor([ids]), use_cache=False).logits[0].float()


def case_of(model, ids):
    length = len(ids) + GREEDY
    last, margin, path = logits_of(model, ids, length)[-1], math.inf, []
    for _ in range(GREEDY):
        row = logits_of(model, ids + path, length)[-1]
        two = torch.topk(row, 2).values
        margin = min(margin, float((two[0] - two[1]) / row.std(unbiased=False)))
        path.append(int(row.argmax()))
    every = logits_of(model, ids, len(ids))
    top = torch.topk(last, 32)
    picked = torch.log_softmax(every.double(), -1)[:-1].gather(1, torch.tensor(ids[1:])[:, None])
    return {"n": len(ids), "ids": ids, "top32_ids": top.indices.tolist(),
            "top32_logits": [rounded(x) for x in top.values], "logsumexp": rounded(torch.logsumexp(last.double(), 0)),
            "mean": rounded(last.mean()), "std": rounded(last.std(unbiased=False)),
            "argmax_each_position": every.argmax(-1).tolist(),
            "mean_nll": rounded(-picked.mean()) if len(ids) > 1 else None, "greedy16": path,
            "greedy_min_margin": rounded(margin)}


def cases_of(model, window, seed):
    draw = torch.Generator().manual_seed(seed)
    sizes = sorted({*PROMPTS, *([window + 1] if window else [])})
    return [case_of(model, torch.randint(3, 320, (n,), generator=draw).tolist()) for n in sizes]


def save(folder, entries, model, golden, is_fused):
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: value.to(torch.bfloat16).contiguous() for name, value in model.state_dict().items()
               if not (name == "lm_head.weight" and entries.get("tie_word_embeddings"))}
    if not is_fused:
        assert not any("experts" in name for name in tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(entries, indent=1) + "\n")
    (folder / "golden.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


def main():
    torch.set_num_threads(2)
    for name, own in MODELS.items():
        if name not in sys.argv[2:]:
            continue
        entries = {**COMMON, **own, "torch_dtype": "bfloat16"}
        is_fused = entries.pop("fused", False)
        config = AutoConfig.for_model(**json.loads(json.dumps(entries)))
        for seed in range(50):
            model = make(config, seed)
            cases = cases_of(model, entries.get("sliding_window"), seed)
            if min(case["greedy_min_margin"] for case in cases) >= 0.004:
                break
        golden = {"format": "tiny-golden-1", "name": name, "seed": seed, "weights_dtype": "bf16",
                  "made_with": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]},
                  "cases": cases}
        save(pathlib.Path(sys.argv[1]) / name, entries, model, golden, is_fused)
        print(name, "seed", seed, "std", cases[-1]["std"], "nll", cases[-1]["mean_nll"], flush=True)


main()
