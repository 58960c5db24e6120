"""Metadata that is well-formed and hostile, in both dialects: every key of a family missing, zero, negative, as large
as can be, or of another type. explain then either works or says one line, which names the key or the tensor that the
value contradicts."""
import json
import shutil
import struct
import tempfile
from pathlib import Path

from gguf_edit import edited
from harness import DATA, SAMPLE, Checks, fixture, mortise, settings

NAMES = ("llama-rope-yarn", "gemma3", "phi3-longrope", "qwen2_moe", "gpt_oss", "granite", "gpt2", "smollm3")
VALUES = {"zero": 0, "negative": -3, "largest": 2**63 - 1, "huge": 1e300, "text": "x", "list": ["x"], "false": False}
# Keys that the graph does not come from.
FREE = {"architectures", "vocab_size", "intermediate_size", "initializer_range", "use_cache", "torch_dtype",
        "bos_token_id", "eos_token_id", "pad_token_id", "moe_intermediate_size", "shared_expert_intermediate_size",
        "output_router_logits", "router_aux_loss_coef", "attention_dropout", "embd_pdrop", "resid_pdrop", "attn_pdrop",
        "n_ctx", "n_inner"}
checks = Checks()
place = Path(tempfile.mkdtemp(prefix="mortise-hostile-metadata-"))
refused = 0


def explain(what, model, key):
    global refused
    out = mortise("explain", "jsonl", "-m", model, *settings(use__tokenizer="none"))
    checks.that(out.returncode in (0, 1), what, "exit", out.returncode, out.stderr[:300])
    if out.returncode == 1:
        refused += 1
        named = any(part in out.stderr for part in (key.split(".")[-1], ".weight", ".bias", "_factor", "value_length"))
        checks.that(out.stderr.count("\n") == 1 and named, what, out.stderr)


def paths(config, at=()):
    """Every key of nested objects, as a path."""
    for key, value in config.items():
        yield at + (key,)
        if isinstance(value, dict):
            yield from paths(value, at + (key,))


def changed(config, path, value):
    """A copy of the config with one value set, or dropped for None."""
    config = json.loads(json.dumps(config))
    inner = config
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if value is None:
        del inner[path[-1]]
    return config


for name in NAMES[1:3] if SAMPLE else NAMES:
    source = next(root / name for root in (DATA / "fixtures/tiny", DATA / "families") if (root / name).exists())
    config = json.loads((source / "config.json").read_text())
    folder = place / name
    shutil.copytree(source, folder)
    for path in paths(config):
        if path[0] in FREE:
            continue
        for what, value in {"missing": None, **VALUES}.items():
            (folder / "config.json").write_text(json.dumps(changed(config, path, value)))
            explain(f"{name} {'.'.join(path)} {what}", folder, path[-1])

RAW = {"text": struct.pack("<IQ", 8, 1) + b"x", "list": struct.pack("<IIQi", 9, 5, 1, 7),
       "negative": struct.pack("<Iq", 11, -3), "zero": struct.pack("<Iq", 11, 0),
       "not a number": struct.pack("<If", 6, float("nan")),
       "largest": struct.pack("<Iq", 11, 2**63 - 1), "false": struct.pack("<I?", 7, False)}
KEYS = ("block_count", "embedding_length", "attention.head_count", "attention.head_count_kv", "attention.key_length",
        "attention.value_length", "attention.layer_norm_rms_epsilon", "context_length", "rope.freq_base")
for name, more in (("llama-q8_0", ("rope.dimension_count",)), ("gemma3-q8_0", ("attention.sliding_window",)),
                   ("qwen3-q4_1", ())):
    data = fixture(name)[0].read_bytes()
    for key in (*KEYS, *more):
        full = f"{name.split('-')[0]}.{key}"
        for what, value in {"missing": None, **RAW}.items():
            path = place / "edited.gguf"
            path.write_bytes(edited(data, {full: value}))
            explain(f"{name} {full} {what}", path, full)
checks.that(refused > 150, "hostile values were refused", refused)

for dialect, key, known in (("hf", "model_type", "gpt_oss"), ("gguf", "general.architecture", "gpt-oss")):
    if dialect == "hf":
        model = place / "llama-rope-yarn"
        config = json.loads((DATA / "fixtures/tiny/llama-rope-yarn/config.json").read_text())
        (model / "config.json").write_text(json.dumps({**config, "model_type": "llamb"}))
    else:
        model = place / "edited.gguf"
        model.write_bytes(edited(fixture("llama-q8_0")[0].read_bytes(), {key: "llamb"}))
    out = mortise("explain", "jsonl", "-m", model, *settings(use__tokenizer="none"))
    checks.that(out.returncode == 1 and "llamb" in out.stderr and known in out.stderr, dialect, out.stderr)
shutil.rmtree(place)
checks.done()
