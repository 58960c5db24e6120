"""Batch invariance, bit for bit: a sequence's tokens and log-probabilities are the same alone and in a batch, whole or
chunked, with and without a warm prefix cache, on one thread and on two. Arguments: `tiny` (the whole matrix on tiny
fixtures; with MORTISE_SAMPLE, one in eight of it), `families` (a sample of it on families with experts, windows, tables
of positions and RoPE by length) or `smollm2` (a sample)."""
import itertools
import random
import sys

from harness import DATA, SAMPLE, SMOLLM2, Checks, block_bytes, fixture, jsonl

SEED = 20260
STRIDE = 8 if SAMPLE else 1


def prompts_of(rng, vocab, count, shared):
    """Prompts of odd lengths, some with a common beginning that spans KV blocks."""
    head = [rng.randrange(5, vocab) for _ in range(37)]
    out = []
    for i in range(count):
        tail = [rng.randrange(5, vocab) for _ in range(rng.choice([1, 2, 15, 16, 17, 33, 50]))]
        out.append(head + tail if shared and i % 2 else tail)
    return out


def requests_of(prompts, **more):
    return [{"id": i, "tokens": p, "max_tokens": 9, "ignore_eos": True, "top_logprobs": 2, "seed": i,
             "temperature": [0, 0.8][i % 2], **more} for i, p in enumerate(prompts)]


def bits(answer):
    return answer["tokens"], answer["logprobs"]


def alone(model, prompts, **sets):
    """Each prompt in a step of its own."""
    return jsonl(model, requests_of(prompts), engine__max_sequences=1, kv__prefix_cache="false", **sets)


def compare(checks, what, want, got):
    for i in got:
        checks.that(bits(want[i]) == bits(got[i]), what, "request", i)


# Chunks of one token are slow: with one size of batch only.
MATRIX = [row for row in itertools.product((1, 2), (2, 7, 32), (1, 5, 17, 512), ("false", "true"))
          if row[2] != 1 or row[1] == 7]



def check_matrix(name, model, prompts, stride, **fixed):
    """The matrix, or one row in `stride` of it, and preemption: a pool that holds a few sequences at a time."""
    want = alone(model, prompts, engine__threads=1, **fixed)
    for threads, batch, chunk, cache in MATRIX[rng.randrange(stride)::stride]:
        got = jsonl(model, requests_of(prompts), engine__threads=threads, engine__max_sequences=batch,
                    engine__max_batch_tokens=chunk, kv__prefix_cache=cache, **fixed)
        compare(checks, f"{name} {fixed} threads={threads} batch={batch} chunk={chunk} cache={cache}", want, got)
        if cache == "true" and batch == 2:
            checks.that(any(a["usage"]["cached_tokens"] for a in got.values()), name, "nothing came from the cache")
    got = jsonl(model, requests_of(prompts), engine__max_sequences=7,
                **{"kv__memory": 12 * block_bytes(model, **fixed), "model__context": 120, **fixed})
    compare(checks, f"{name} {fixed} preempted", want, got)
    return want


FAMILIES = ("mixtral", "qwen2_moe", "qwen3_moe", "gemma3", "gpt2", "phi3-longrope")

checks = Checks()
rng = random.Random(SEED)
print("seed", SEED)
if sys.argv[1] == "tiny":
    for name, attention, dtype in itertools.product(("llama-q4_k_m", "qwen2-q5_0"), ("naive", "paged"), ("f32", "f16")):
        model, _ = fixture(name)
        prompts = prompts_of(rng, 320, 32, shared=True)
        want = check_matrix(name, model, prompts, STRIDE, kv__dtype=dtype, use__attention=attention)
    other = alone(fixture("llama-q8_0")[0], prompts)
    checks.that(any(bits(want[i]) != bits(other[i]) for i in want), "another model must differ")
elif sys.argv[1] == "families":
    for name in FAMILIES:
        prompts = prompts_of(rng, 300, 12, shared=True)
        check_matrix(name, DATA / "fixtures/tiny" / name, prompts, 2 * STRIDE, kv__dtype=rng.choice(("f32", "f16")),
                     use__attention=rng.choice(("naive", "paged")), use__tokenizer="none", model__context=120)
else:
    prompts = prompts_of(rng, 49000, 7, shared=True)
    want = alone(SMOLLM2, prompts, engine__threads=1)
    for threads, batch, chunk, cache in ((2, 7, 512, "true"), (2, 2, 33, "true"), (1, 7, 17, "false")):
        got = jsonl(SMOLLM2, requests_of(prompts), engine__threads=threads, engine__max_sequences=batch,
                    engine__max_batch_tokens=chunk, kv__prefix_cache=cache)
        compare(checks, f"smollm2 threads={threads} batch={batch} chunk={chunk} cache={cache}", want, got)
checks.done()
