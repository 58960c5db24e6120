"""Real models against golden values: logits, greedy tokens, perplexity of the GPL-3 text. The model is the argument;
one that was not fetched is skipped (SmolLM2 always is there: check fetches it). With MORTISE_SAMPLE two rows, and no
perplexity."""
import json
import pathlib
import sys

from harness import DATA, QWEN, SAMPLE, SKIP, SMOLLM2, Checks, jsonl, mortise, settings

family = sys.argv[1]
model = {"smollm2": SMOLLM2, "qwen2": QWEN}[family]
if family != "smollm2" and not model.exists():
    print(f"{model} is not there")
    sys.exit(SKIP)
golden = json.loads((DATA / "golden/logits.json").read_text())[family]
if SAMPLE:
    golden["rows"] = golden["rows"][:2]
checks = Checks()
requests = [{"id": i, "tokens": row["ids"], "max_tokens": 24, "temperature": 0, "ignore_eos": True, "top_logprobs": 20}
            for i, row in enumerate(golden["rows"])]
for dtype, allowed in (("f32", 1e-2), ("f16", 5e-2)):
    answers = jsonl(model, requests, kv__dtype=dtype, model__context=1024, timeout=600)
    for i, row in enumerate(golden["rows"]):
        answer, what = answers[i], f"{family} {dtype} row {i}"
        top = dict(map(tuple, answer["logprobs"][0]["top"]))
        checks.that(answer["logprobs"][0]["top"][0][0] == row["top20_ids"][0], what, "top-1")
        worst = max(abs(top.get(t, -99) - (x - row["logsumexp"]))
                    for t, x in zip(row["top20_ids"][:15], row["top20_logits"]))
        checks.that(worst < allowed, what, "log-probabilities", worst)
        if dtype == "f32":
            checks.that(answer["tokens"] == row["greedy24"], what, "greedy", answer["tokens"])

if SAMPLE:
    checks.done()
text = pathlib.Path("/usr/share/common-licenses/GPL-3")
run = mortise("run", "perplexity", "-m", model, *settings(
    plugin__perplexity__text=str(text), plugin__perplexity__tokens=2048, plugin__perplexity__output="json",
    kv__dtype="f32", model__context=1024), timeout=900)
checks.that(run.returncode == 0 and run.stderr == "", "perplexity", run.stderr)
got, want = json.loads(run.stdout), golden["gpl3_nll"]
checks.that(got["tokens"] == want["tokens"], "tokens", got)
checks.that(abs(got["perplexity"] / want["ppl"] - 1) < 1e-3, "perplexity", got, want)
checks.done()
