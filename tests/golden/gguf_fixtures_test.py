"""Tiny GGUF models against the golden values of independent implementations, with f32 and f16 KV, through every
attention plugin; and a planted fault that the comparison must catch."""
import copy

import compare
from harness import Checks, fixture, jsonl

MODELS = ["llama-f16", "llama-q8_0", "llama-q4_k_m", "llama-mix", "llama3rope-q8_0", "qwen2-q5_0", "qwen3-q4_1",
          "gemma3-q8_0"]
checks = Checks()
for name in MODELS:
    path, golden = fixture(name)
    cases = golden["cases"]
    requests = compare.greedy_requests(cases) + compare.score_requests(cases)
    for attention in ("naive", "paged"):
        for dtype, tolerance in (("f32", compare.F32), ("f16", compare.F16), ("bf16", None)):
            answers = jsonl(path, requests, kv__dtype=dtype, use__attention=attention)
            if tolerance is not None:
                compare.check_cases(checks, f"{name} {attention} {dtype}", answers, cases, tolerance)
            checks.that(all(a["finish_reason"] == "length" for a in answers.values()), name, "finish")
            if dtype == "f32":
                wrong = copy.deepcopy(cases)
                wrong[1]["logsumexp"] += 0.01 * wrong[1]["std"]
                planted = Checks()
                planted.that = lambda good, *what, p=planted: setattr(p, "failures", p.failures + (not good))
                compare.check_cases(planted, name, answers, wrong, tolerance)
                checks.that(planted.failures > 0, name, "a planted fault must be caught")
checks.done()
