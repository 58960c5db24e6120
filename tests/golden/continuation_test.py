"""Real models say sensible things: Qwen2.5-Coder in chat with its own template, Gemma 3 (a base model without one) in
continuing text, also past its window of 512 tokens. A model that was not fetched is skipped.

usage: continuation_test.py qwen2|gemma3
"""
import pathlib
import sys

from harness import MODELS, QWEN, SAMPLE, SKIP, Checks, jsonl

GEMMA = MODELS / "gemma-3-270m-q4_k_m.gguf"
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
checks = Checks()


def chat():
    asked = {"code": ("Write a Python function add(a, b) that returns the sum of two numbers.",
                      ("def add(a, b)", "return a + b")),
             "capital": ("What is the capital of France? Answer in one word.", ("Paris",)),
             "sum": ("What is 2 + 3? Answer with the number only.", ("5",))}
    requests = [{"id": key, "messages": [{"role": "user", "content": text}], "max_tokens": 96, "temperature": 0}
                for key, (text, _) in asked.items()]
    answers = jsonl(QWEN, requests, model__context=1024, timeout=600)
    for key, (_, words) in asked.items():
        text = answers[key]["text"]
        checks.that(all(word in text for word in words), key, repr(text))
        checks.that("<|im_" not in text, key, "no special token is shown", repr(text))
    checks.that(answers["capital"]["finish_reason"] == "stop", "the answer ends", answers["capital"])


def mean_loss(rows):
    return -sum(row["logprob"] for row in rows) / len(rows)


def text():
    begun = {"count": ("1, 2, 3, 4, 5, 6, 7, 8,", "9, 10"),
             "days": ("Monday, Tuesday, Wednesday,", "Thursday, Friday"), "alphabet": ("a b c d e f g", "h i j")}
    requests = [{"id": key, "prompt": prompt, "max_tokens": 12, "temperature": 0} for key, (prompt, _) in begun.items()]
    if not SAMPLE:
        requests.append({"id": "long", "prompt": TEXT.read_text()[:3400], "max_tokens": 0, "echo": True,
                         "top_logprobs": 1})
    answers = jsonl(GEMMA, requests, model__context=2048, timeout=600)
    for key, (_, words) in begun.items():
        checks.that(words in answers[key]["text"], key, repr(answers[key]["text"]))
    if SAMPLE:
        return
    # Layers with the window see the last 512 tokens only; llama.cpp 0.3.36 gives these losses of the same tokens.
    rows = answers["long"]["logprobs"][1:]
    before, behind = mean_loss(rows[100:500]), mean_loss(rows[530:])
    good = len(rows) == 741 and abs(before - 2.528) < 0.03 and abs(behind - 3.076) < 0.03
    checks.that(good, "past the window", len(rows), before, behind)
    print(f"mean loss {before:.3f} within the window, {behind:.3f} past it")


model, run = {"qwen2": (QWEN, chat), "gemma3": (GEMMA, text)}[sys.argv[1]]
if not model.exists():
    print(f"{model} is not there")
    sys.exit(SKIP)
run()
checks.done()
