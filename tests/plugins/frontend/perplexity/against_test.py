"""`perplexity` with `against`: the figures are those of numpy, over two models of 20 tokens whose whole distributions
top_logprobs shows; faults and refusals are seen. SmolLM2 and itself differ in nothing.
Flow: models written here -> jsonl (their distributions) and perplexity (its figures) -> compared."""
import json
import pathlib
import re
import tempfile

import gguf
import numpy as np

from harness import SMOLLM2, Checks, fixture, jsonl, mortise, settings

VOCAB, WIDTH, CONTEXT, WINDOW = 20, 32, 1024, 600
TOKENS = [*"abcdefghijklmnopqrs", "ab"]
RANGES = {"to 512": (1, 512), "to 2k": (512, 2048)}


def write_model(path, noise, seed=7, tokens=TOKENS):
    """A llama of one layer; `noise` is added to each weight, the same weights else."""
    base, extra = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // 2)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * len(tokens))
    writer.add_token_merges(["a b"])

    def tensor(name, *shape, scale=0.5):
        values = base.normal(0, scale, shape) + noise * extra.normal(0, 1, shape)
        writer.add_tensor(name, values.astype(np.float32))
    tensor("token_embd.weight", len(tokens), WIDTH, scale=1)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        tensor(f"blk.0.{name}.weight", WIDTH, WIDTH)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    tensor("output.weight", len(tokens), WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def distributions(model, text):
    """log P of every token at every position of each window, [positions][vocab], as the jsonl front end tells it."""
    ids = [TOKENS.index(token) for token in re.findall("ab|.", text)]
    windows = [ids[at:at + WINDOW] for at in range(0, len(ids), WINDOW)]
    requests = [{"id": i, "tokens": window, "echo": True, "max_tokens": 0, "top_logprobs": 20}
                for i, window in enumerate(windows)]
    answers = jsonl(model, requests)
    out = []
    for i, window in enumerate(windows):
        rows = np.full((len(window), VOCAB), np.nan)
        for row, entry in zip(rows[1:], answers[i]["logprobs"][1:]):
            for token, value in entry["top"]:
                row[token] = value
        assert not np.isnan(rows[1:]).any()
        out.append((window, rows))
    return out


def figures(model, against, text, bounds):
    """The same by numpy, over the positions within bounds."""
    nll, nll_against, kl, same = [], [], [], []
    for (window, q), (_, p) in zip(distributions(model, text), distributions(against, text)):
        for at in range(max(1, bounds[0]), min(len(window), bounds[1])):
            nll.append(-q[at][window[at]])
            nll_against.append(-p[at][window[at]])
            kl.append(np.sum(np.exp(p[at]) * (p[at] - q[at])))
            same.append(np.argmax(p[at]) == np.argmax(q[at]))
    return {"scored": len(nll), "perplexity": np.exp(np.mean(nll)), "against": np.exp(np.mean(nll_against)),
            "increase": np.exp(np.mean(nll)) - np.exp(np.mean(nll_against)), "kl_mean": np.mean(kl),
            "kl_p99": np.percentile(kl, 99), "top1_agreement": np.mean(same)}


def perplexity(model, **sets):
    return mortise("run", "perplexity", "-m", model,
                   *settings(**{f"plugin__perplexity__{key}": value for key, value in sets.items()}))


def run(model, against, path, **more):
    sets = {"text": str(path), "window": WINDOW, "output": "json", "against": str(against), "max_increase": 1e9, **more}
    return perplexity(model, **sets)


def same(got, want):
    return all(np.isclose(got[key], value, rtol=1e-4, atol=1e-6) for key, value in want.items())


def check_numpy(checks, place):
    model, against, text = place / "noisy.gguf", place / "plain.gguf", place / "text"
    write_model(model, 0.1)
    write_model(against, 0)
    # Text of the reference's own making, so that whatever is added to its weights foretells it worse.
    made = jsonl(against, [{"id": i, "tokens": [i], "max_tokens": 725, "temperature": 1, "seed": i} for i in (0, 1)])
    text.write_text(made[0]["text"] + made[1]["text"])
    done = run(model, against, text)
    checks.that(done.returncode == 0 and done.stderr == "", done.returncode, done.stderr)
    got = json.loads(done.stdout)
    checks.that(got["tokens"] == len(re.findall("ab|.", text.read_text())), got["tokens"])
    checks.that([r["range"] for r in got["ranges"]] == list(RANGES), got["ranges"])
    for row in got["ranges"]:
        want = figures(model, against, text.read_text(), RANGES[row["range"]])
        checks.that(same(row, want), row, want)
    want = figures(model, against, text.read_text(), (1, CONTEXT))
    want["scored"] = got["scored"] = 0
    whole = {**got, "against": got["against"]["perplexity"]}
    checks.that(same(whole, want), whole, want)
    # A planted fault: the two in each other's place are other figures, all of which the comparison sees.
    swapped = json.loads(run(against, model, text).stdout)["ranges"][0]
    checks.that(not any(same(swapped, {k: v}) for k, v in figures(model, against, text.read_text(), (1, 512)).items()
                        if k in ("perplexity", "against", "increase", "kl_mean", "kl_p99")), swapped)
    # The plain figure is the same one.
    alone = json.loads(perplexity(model, text=str(text), window=WINDOW, output="json").stdout)
    checks.that(set(alone) == {"tokens", "mean_nll", "perplexity"}, alone)
    checks.that(np.isclose(alone["mean_nll"], got["mean_nll"], rtol=1e-6), alone, got["mean_nll"])

    worse = run(model, against, text, max_increase=0, output="human")
    checks.that(worse.returncode == 1, worse.returncode)
    checks.that(worse.stderr.count("\n") == 1 and "to 512" in worse.stderr and "to 2k" in worse.stderr and
                f"switch to {against}" in worse.stderr, worse.stderr)
    checks.that("KL mean" in worse.stdout and worse.stdout.count("\n") == 6, worse.stdout)


def check_refusals(checks, place):
    text, plain = place / "text", place / "plain.gguf"
    other, wider = place / "other.gguf", place / "wider.gguf"
    write_model(other, 0, tokens=TOKENS[::-1])
    write_model(wider, 0, tokens=TOKENS + ["u"])
    for against, words in ((other, "another tokenizer"), (wider, "vocabulary of 21"), (place / "gone", "no such file"),
                           (text, "recognises")):
        done = run(plain, against, text)
        checks.that(done.returncode == 1 and done.stderr.count("\n") == 1 and words in done.stderr and
                    str(against) in done.stderr and done.stdout == "", against, done.returncode, done.stderr)
    unset = perplexity(plain)
    checks.that(unset.returncode == 2 and "plugin.perplexity.text" in unset.stderr, unset.returncode, unset.stderr)
    far = run(plain, plain, text, window=CONTEXT + 1)
    checks.that(far.returncode == 1 and "plugin.perplexity.window" in far.stderr, far.returncode, far.stderr)


def check_self(checks, model, text, **more):
    done = run(model, model, text, max_increase=0, window=256, **more)
    checks.that(done.returncode == 0, done.stderr)
    got = json.loads(done.stdout)
    checks.that((got["increase"], got["kl_mean"], got["kl_p99"], got["top1_agreement"]) == (0, 0, 0, 1), got)


checks = Checks()
with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    check_numpy(checks, place)
    check_refusals(checks, place)
    words = place / "words"
    words.write_text("The quick brown fox jumps over the lazy dog. " * 40)
    check_self(checks, fixture("llama-q8_0")[0], words)
    if SMOLLM2.exists():
        check_self(checks, SMOLLM2, words, tokens=400)
checks.done()
