"""The engine from outside: context limits, prefix cache, seeds, samplers' parameters, cancellation by end of input, bad
requests. Rows are from public bug reports (tests/data/cases) where a case is named."""
import json
import random

from harness import SMOLLM2, Checks, block_bytes, fixture, jsonl, mortise, settings

checks = Checks()
tiny, _ = fixture("llama-q8_0")
rng = random.Random(7)


def ids(n, seed=1):
    r = random.Random(seed)
    return [r.randrange(5, 320) for _ in range(n)]


def ask(model, request, **sets):
    return jsonl(model, [{"id": 1, **request}], **sets)[1]


# kv-01: the prompt fills the context, all but one place, exactly, and more.
for n in (255, 256, 257, 2000):
    for max_tokens in (4, 0):
        answer = ask(tiny, {"tokens": ids(n), "max_tokens": max_tokens, "temperature": 0, "ignore_eos": True},
                     model__context=256)
        fits = n + (max_tokens > 0) <= 256
        if fits:
            checks.that(answer["finish_reason"] == "length" and len(answer["tokens"]) == min(max_tokens, 256 - n),
                        "kv-01", n, max_tokens, answer)
        else:
            error = answer.get("error", {})
            checks.that(error.get("code") == "context_length_exceeded", "kv-01", n, answer)
            checks.that(str(n) in error.get("message", "") and "256" in error["message"], "kv-01 counts", answer)
            checks.that(error["message"].startswith("This model's maximum context length is 256 tokens"), answer)

# kv-02: the context ends the answer; its text is the beginning of what a longer context gives.
request = {"tokens": ids(100), "max_tokens": 1000, "temperature": 0, "ignore_eos": True}
short, long = ask(tiny, request, model__context=128), ask(tiny, request, model__context=512)
checks.that(short["finish_reason"] == "length" and len(short["tokens"]) == 28, "kv-02", short["usage"])
checks.that(short["tokens"] == long["tokens"][:28], "kv-02 text")

# kv-04, kv-05: what the prefix cache gives equals what is computed, and only a common beginning is reused.
head = ids(300, 2)
prompts = [head + ids(20, 3), head + ids(20, 4), head + ids(20, 3), [(head[0] + 1) % 300 + 5] + head[1:] + ids(20, 3)]
more = {"max_tokens": 6, "temperature": 0, "ignore_eos": True, "top_logprobs": 1}
cold = [ask(tiny, {"tokens": p, **more}, kv__prefix_cache="false") for p in prompts]
run = jsonl(tiny, [{"id": i, "tokens": p, **more} for i, p in enumerate(prompts)], engine__max_sequences=1)
for i, want in enumerate(cold):
    checks.that((want["tokens"], want["logprobs"]) == (run[i]["tokens"], run[i]["logprobs"]), "kv-04", i)
checks.that([run[i]["usage"]["cached_tokens"] for i in range(4)] == [0, 288, 304, 0], "kv-04 reuse",
            [run[i]["usage"] for i in range(4)])
sentences = [ids(20, 100 + i) for i in range(8)]
first, second = sum(sentences, []), sum([sentences[i] for i in (0, 1, 4, 5, 7)], [])
run = jsonl(tiny, [{"id": i, "tokens": p, **more} for i, p in enumerate((first, second))], engine__max_sequences=1)
checks.that(run[1]["usage"]["cached_tokens"] == 32, "kv-05", run[1]["usage"])

block = block_bytes(tiny, kv__dtype="f16")

# A pool smaller than one context: a warning, and only what can never fit is refused.
text = json.dumps({"id": 1, "tokens": ids(40), "max_tokens": 200, "temperature": 0, "ignore_eos": True}) + "\n"
out = mortise("run", "jsonl", "-m", tiny, *settings(kv__memory=4 * block, kv__dtype="f16"), stdin=text)
answer = json.loads(out.stdout)
pool = answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]
checks.that("kv.memory holds" in out.stderr and out.stderr.count("\n") == 1, "warning", out.stderr)
checks.that(answer["finish_reason"] == "length" and pool % 16 == 0 and pool < 512, "small pool", answer["usage"])
text = json.dumps({"id": 1, "tokens": ids(pool + 1), "max_tokens": 2}) + "\n"
out = mortise("run", "jsonl", "-m", tiny, *settings(kv__memory=4 * block, kv__dtype="f16"), stdin=text)
checks.that(str(pool) in json.loads(out.stdout)["error"]["message"], "can never fit", out.stdout)

# Preemption: many that do not fit together all finish, as alone.
many = [{"id": i, "tokens": ids(30 + i, i), "max_tokens": 60, "temperature": 0, "ignore_eos": True} for i in range(20)]
alone = jsonl(tiny, many, engine__max_sequences=1)
text = "".join(json.dumps(r) + "\n" for r in many)
out = mortise("run", "jsonl", "-m", tiny, *settings(kv__memory=20 * block, kv__dtype="f16"), stdin=text)
rows = {r["id"]: r for r in map(json.loads, filter(None, out.stdout.split("\n")))}
checks.that(len(rows) == 20 and all(rows[i]["tokens"] == alone[i]["tokens"] for i in alone), "preempted", out.stderr)

# sam-08: a seed repeats whatever runs beside it, and without one answers differ.
seeded = {"tokens": ids(10), "max_tokens": 24, "temperature": 0.9, "ignore_eos": True}
want = ask(tiny, {**seeded, "seed": 42})["tokens"]
beside = jsonl(tiny, [{"id": 0, **seeded, "seed": 42}] + [{"id": i, **seeded} for i in range(1, 5)])
checks.that(beside[0]["tokens"] == want, "sam-08")
checks.that(len({tuple(beside[i]["tokens"]) for i in beside}) == 5, "sam-08: no seed, same text")

# sam-04, sam-07, sam-11: raw log-probabilities, bans, extremes.
a = ask(tiny, {"tokens": ids(9), "max_tokens": 1, "seed": 1, "top_logprobs": 3, "top_p": 0.5})
b = ask(tiny, {"tokens": ids(9), "max_tokens": 1, "seed": 1, "top_logprobs": 3})
checks.that(a["logprobs"][0]["top"] == b["logprobs"][0]["top"] and len(a["logprobs"][0]["top"]) == 3, "sam-04")
greedy = ask(tiny, {"tokens": ids(9), "max_tokens": 30, "temperature": 0, "ignore_eos": True})["tokens"]
banned = ask(tiny, {"tokens": ids(9), "max_tokens": 30, "temperature": 0, "ignore_eos": True,
                    "logit_bias": {str(greedy[0]): -100}})["tokens"]
checks.that(greedy[0] not in banned, "sam-07")
hot = jsonl(tiny, [{"id": i, **seeded, "temperature": 1.5, "seed": i} for i in range(20)])
checks.that(len({tuple(r["tokens"]) for r in hot.values()}) >= 2, "sam-11 seeds")
one = ask(tiny, {"tokens": ids(9), "max_tokens": 30, "temperature": 1.5, "top_k": 1, "ignore_eos": True})
checks.that(one["tokens"] == greedy, "sam-11: top_k 1 is greedy")

# Bad requests are answered, each with the parameter's name, and the others go on.
bad = [({"temperature": "hot"}, "temperature"), ({"temperature": -1}, "temperature"), ({"top_p": 0}, "top_p"),
       ({"top_p": 1.5}, "top_p"), ({"max_tokens": -1}, "max_tokens"), ({"max_tokens": 2.5}, "max_tokens"),
       ({"stop": [""]}, "stop"), ({"stop": 5}, "stop"), ({"top_logprobs": 21}, "top_logprobs"),
       ({"seed": "x"}, "seed"), ({"temprature": 1}, "temprature"), ({"logit_bias": {"99999": 1}}, "logit_bias"),
       ({"tokens": [320]}, "tokens"), ({"tokens": []}, None), ({"tokens": [-1]}, "tokens"), ({"tokens": "x"}, "tokens")]
lines = [json.dumps({"id": i, "tokens": ids(3), "max_tokens": 1, **r}) for i, (r, _) in enumerate(bad)]
lines += ["{", "[]", "5", "", '{"id": 77, "tokens": [5], "max_tokens": 1, "temperature": null}', "\xff" * 3]
out = mortise("run", "jsonl", "-m", tiny, stdin="\n".join(lines) + "\n")
checks.that(out.returncode == 0 and out.stderr == "", "bad lines", out.returncode, out.stderr)
rows = [json.loads(line) for line in out.stdout.split("\n") if line]
by_id = {r["id"]: r for r in rows if r["id"] is not None}
for i, (request, name) in enumerate(bad):
    error = by_id.get(i, {}).get("error", {})
    checks.that(error.get("param") == name or name is None and error, request, by_id.get(i))
checks.that(by_id[77]["finish_reason"] in ("length", "stop"), "the good one", by_id[77])
checks.that(sum(r["id"] is None for r in rows) == 4, "unreadable lines", [r for r in rows if r["id"] is None])

# Defaults that no request could live with end the start.
for setting in ('defaults.stop=[1]', 'defaults.logit_bias={ "99999" = 1 }'):
    out = mortise("run", "jsonl", "-m", tiny, "--set", setting, stdin="")
    checks.that(out.returncode == 2 and setting.split("=")[0] in out.stderr, setting, out.returncode, out.stderr)

# A default of a sampler that is not in the chain says where the chain stands.
out = mortise("run", "text", "-m", tiny, "--set", "use.sampler=top_k", "question", stdin="")
checks.that(out.returncode == 2 and "use.sampler" in out.stderr and "defaults.temperature" in out.stderr, out.stderr)

# A queue shorter than the input: the front end waits, and every line is answered.
flood = jsonl(tiny, [{"id": i, "tokens": ids(5, i), "max_tokens": 3} for i in range(300)], engine__queue=2,
              engine__max_sequences=3)
checks.that(len(flood) == 300 and all("error" not in r for r in flood.values()), "flood")

# More requests than tokens in a batch: as many run at once as have a row in every step, and all are answered.
turns = jsonl(tiny, [{"id": i, "tokens": ids(9, i), "max_tokens": 9, "temperature": 0, "ignore_eos": True}
                     for i in range(12)], engine__max_batch_tokens=3)
want = jsonl(tiny, [{"id": i, "tokens": ids(9, i), "max_tokens": 9, "temperature": 0, "ignore_eos": True}
                    for i in range(12)])
checks.that(all(turns[i]["tokens"] == want[i]["tokens"] for i in want), "turns")

# echo gives the prompt back, verbatim, with lists of equal length.
answer = ask(SMOLLM2, {"prompt": "<|im_start|>user\nHello", "max_tokens": 2, "temperature": 0, "echo": True,
                       "top_logprobs": 1})
checks.that(answer["text"].startswith("<|im_start|>user\nHello"), "echo", answer["text"])
checks.that(len(answer["tokens"]) == len(answer["logprobs"]), "echo lists")
checks.that(answer["logprobs"][0]["logprob"] is None and answer["logprobs"][0]["top"] == [], "echo first")
checks.done()
