"""Gemma 3's tokens out of the real GGUF, through the program, against the recorded rows of its hub tokenizer.

usage: gemma3_rows.py DATA
Exits 77 (skipped) where the model was not fetched.
"""
import json
import pathlib
import sys

from harness import MODELS, SKIP, Checks, mortise

MODEL = MODELS / "gemma-3-270m-q4_k_m.gguf"


def main():
    if not MODEL.exists():
        print(f"skipped: {MODEL} was not fetched")
        sys.exit(SKIP)
    data = pathlib.Path(sys.argv[1])
    rows = json.loads((data / "fixtures/tokenizers/gemma3/rows.json").read_text())["rows"]
    rows += json.loads((data / "golden/tokens.json").read_text())["gemma3"]
    requests = "".join(json.dumps({"text": row["text"]}) + "\n" for row in rows)
    run = mortise("run", "tokenize", "-m", MODEL, stdin=requests)
    checks = Checks()
    checks.that(run.returncode == 0, run.stderr)
    answers = [json.loads(line) for line in run.stdout.split("\n") if line]
    checks.that(len(answers) == len(rows), len(answers), "answers for", len(rows))
    for row, answer in zip(rows, answers):
        checks.that(answer.get("ids") == row["ids"], row, answer)
        checks.that(answer.get("decoded") == row.get("decoded", row["text"]), row, answer)
    special = json.dumps({"text": "<start_of_turn>user\nHi<end_of_turn>", "parse_special": False, "add_special": True})
    plain = json.loads(mortise("run", "tokenize", "-m", MODEL, stdin=special + "\n").stdout)
    checks.that(plain["ids"][0] == 2 and not {105, 106} & set(plain["ids"]), plain)
    checks.done()


if __name__ == "__main__":
    main()
