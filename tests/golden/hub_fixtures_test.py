"""Tiny hub folders of every family against the golden values of independent implementations: all cases with f32 KV and
reference kernels, and a sample with f16 KV.

usage: hub_fixtures_test.py [NAME...]   without names: every fixture of tiny/ and quant/, and folders of data/families
"""
import json
import sys

import compare
from harness import DATA, Checks, jsonl

F16_SAMPLE = {"llama", "gemma3", "mixtral", "phi3-longrope", "gpt2"}


def folders():
    roots = [DATA / "fixtures/tiny", DATA / "fixtures/quant", DATA / "families"]
    return [path.parent for root in roots for path in sorted(root.glob("*/golden.json"))]


def check(checks, folder):
    cases = json.loads((folder / "golden.json").read_text())["cases"]
    requests = compare.greedy_requests(cases) + compare.score_requests(cases)
    wanted = [("f32", compare.F32)] + [("f16", compare.F16)] * (folder.name in F16_SAMPLE)
    for dtype, tolerance in wanted:
        answers = jsonl(folder, requests, kv__dtype=dtype, use__tokenizer="none", use__attention="naive",
                        kernels__pin='{ "*" = "reference" }')
        compare.check_cases(checks, f"{folder.name} {dtype}", answers, cases, tolerance)


def main():
    checks = Checks()
    for folder in folders():
        if len(sys.argv) < 2 or folder.name in sys.argv[1:]:
            try:
                check(checks, folder)
            except AssertionError as error:
                checks.that(False, folder.name, error)
    checks.done()


main()
