"""Streaming and stop strings to the letter: a model that replays tokens (tests/plugins/scripted), a real tokenizer."""
import json
import os
import pathlib

from harness import SMOLLM2, Checks, jsonl, mortise, settings

SCRIPTED = pathlib.Path(os.environ["MORTISE_BUILD"]) / "tests/scripted"
checks = Checks()


def tokenize(*texts):
    lines = "".join(json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in texts)
    run = mortise("run", "tokenize", "-m", SMOLLM2, stdin=lines)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.split("\n") if line]


def say(tokens, **request):
    """(joined deltas, final answer, deltas) of a streamed request; the same request unstreamed must agree."""
    base = {"tokens": [1], "temperature": 0, "max_tokens": 200, **request}
    lines = "".join(json.dumps({"id": i, "stream": i == 1, **base}) + "\n" for i in (1, 2))
    run = mortise("run", "jsonl", "-m", SMOLLM2, "--plugins", SCRIPTED,
                  *settings(use__arch="scripted", plugin__scripted__tokens=tokens), stdin=lines)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    rows = [json.loads(line) for line in run.stdout.split("\n") if line]
    deltas = [r for r in rows if r["id"] == 1 and "delta" in r]
    final = [r for r in rows if r["id"] == 1 and "delta" not in r][0]
    whole = [r for r in rows if r["id"] == 2][0]
    for key in ("text", "tokens", "finish_reason", "usage"):
        a, b = final.get(key), whole.get(key)
        if key == "usage":
            a, b = {**a, "cached_tokens": 0}, {**b, "cached_tokens": 0}
        checks.that(a == b, "streamed and whole differ in", key, a, b)
    joined = "".join(d["delta"] for d in deltas)
    checks.that(joined == final["text"], "deltas", repr(joined), "text", repr(final["text"]))
    checks.that([t for d in deltas for t in d["tokens"]] == final["tokens"], "tokens of the deltas", deltas, final)
    for d in deltas:
        checks.that("\ufffd" not in d["delta"], "a delta holds U+FFFD", d)
    return joined, final, deltas


# str-01: characters of several tokens come whole.
text = "ok \U0001f600 \u65e5\u672c\u8a9e \U0001f469\u200d\U0001f469\u200d\U0001f467 \u00e9"
ids = tokenize(text)[0]["ids"]
joined, final, deltas = say(ids)
checks.that(joined == text and final["finish_reason"] == "stop", "characters", repr(joined), final)
checks.that(final["tokens"] == ids, "tokens", final["tokens"], ids)
checks.that(deltas, "no delta")  # how many is a matter of pace: what a slow reader left is merged

# str-02, str-04, str-05: a stop string over token borders; nothing of it is let out.
for script, stops, want, finish in (
        ("ABCDEFGHIJ tail", ["DEFGHIJ"], "ABC", "stop"),
        ("over there now", ["re", "he"], "over t", "stop"),
        ("over there now", ["he", "re"], "over t", "stop"),
        ("total: DEF", ["DEFGHIJ"], "total: DEF", "stop"),
        ("abcx", ["abcd", "bc"], "a", "stop"),
        ("abcd", ["bc", "abcd"], "", "stop"),
        ("plain", [], "plain", "stop"),
        ("caf\u00e9 noir", ["\u00e9 n"], "caf", "stop"),
        ("aaab", ["aab"], "a", "stop"),
        ("one\ntwo", ["\n"], "one", "stop")):
    joined, final, _ = say(tokenize(script)[0]["ids"], stop=stops)
    checks.that(joined == want and final["finish_reason"] == finish, script, stops, repr(joined),
                final["finish_reason"])

# A stop string given as text, and one that begins at the very start.
joined, final, _ = say(tokenize("stop here")[0]["ids"], stop="stop")
checks.that(joined == "" and final["tokens"] == [] and final["usage"]["completion_tokens"] == 0, "at the start", final)

# max_tokens in the middle of a held-back beginning lets it out.
ids = tokenize("ABCDEFGHIJ")[0]["ids"]
joined, final, _ = say(ids, stop=["ABCDEFGHIJ!"], max_tokens=len(ids))
checks.that(joined == "ABCDEFGHIJ" and final["finish_reason"] == "length", "held back", repr(joined), final)

# An incomplete character at the end is one U+FFFD, not silence.
emoji = tokenize("\U0001f600")[0]["ids"]
final = jsonl(SMOLLM2, [{"id": 1, "tokens": [1], "max_tokens": 50, "temperature": 0}], "--plugins", SCRIPTED,
              use__arch="scripted", plugin__scripted__tokens=emoji[:2])[1]
checks.that(final["text"] == "\ufffd" and final["tokens"] == emoji[:2], "cut character", final)

# Special tokens are tokens, but no text; end of sequence ends unless it is ignored.
joined, final, _ = say([1, 4093, 1], ignore_eos=True, max_tokens=5)
checks.that(final["finish_reason"] == "length" and len(final["tokens"]) == 5, "ignore_eos", final)
checks.that("<|im" not in final["text"], "a special token is shown", final)

# sam-10: log-probabilities stand beside every token, also of those that are pieces of a character.
joined, final, _ = say(emoji, top_logprobs=2)
checks.that(len(final["logprobs"]) == len(final["tokens"]) == 3, "logprobs", final)
checks.that(all(row["top"][0][0] == t for row, t in zip(final["logprobs"], final["tokens"])), "top", final)
checks.done()
