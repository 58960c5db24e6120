"""Every family out of GGUF: the tiny hub folders, rewritten with llama.cpp's names and conventions, give the same
golden values.

usage: gguf_families_test.py [NAME...]
"""
import json
import pathlib
import sys
import tempfile

import compare
import to_gguf
from harness import DATA, Checks, jsonl

# GGUF has no key for what these pin down.
UNSAYABLE = {"llama-rope-dynamic", "llama-rope-yarn-mscale", "qwen2-window", "qwen2_moe-mixed", "smollm3-window"}


def main():
    checks = Checks()
    roots = (DATA / "fixtures/tiny", DATA / "families")
    folders = [path.parent for root in roots for path in sorted(root.glob("*/golden.json"))]
    with tempfile.TemporaryDirectory() as place:
        for folder in folders:
            if len(sys.argv) > 1 and folder.name not in sys.argv[1:]:
                continue
            path = pathlib.Path(place) / f"{folder.name}.gguf"
            try:
                to_gguf.convert(folder, path)
            except to_gguf.Unsayable as why:
                checks.that(folder.name in UNSAYABLE, folder.name, why)
                continue
            cases = json.loads((folder / "golden.json").read_text())["cases"]
            requests = compare.greedy_requests(cases) + compare.score_requests(cases)
            try:
                answers = jsonl(path, requests, kv__dtype="f32", use__tokenizer="none", use__attention="naive",
                                kernels__pin='{ "*" = "reference" }')
                compare.check_cases(checks, folder.name, answers, cases, compare.F32)
            except AssertionError as error:
                checks.that(False, folder.name, error)
            path.unlink()
    checks.done()


main()
