"""Form C against Python's unicodedata: a text through the qwen2 row and back is the text in form C.

usage: nfc_vs_python.py DRIVER FIXTURES [SEED]
"""
import json
import random
import subprocess
import sys
import unicodedata

from random_text import random_text

TEXTS = 20000


def main():
    driver, fixtures = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    rng = random.Random(seed)
    texts = [random_text(rng) for _ in range(TEXTS)]
    lines = "".join(json.dumps({"text": text, "parse_special": False}) + "\n" for text in texts)
    command = [driver, f"{fixtures}/bpe-qwen2/tokenizer.json", "qwen2"]
    out = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(out) == TEXTS, f"seed {seed}: {len(out)} answers"
    for text, line in zip(texts, out):
        # A user-defined token is matched before the text between is brought into form C; the texts have two.
        parts = text.replace("<think>", "\0<think>\0").replace("<tool_call>", "\0<tool_call>\0").split("\0")
        if "\0" in text:
            continue
        expected = "".join(unicodedata.normalize("NFC", part) for part in parts)
        decoded = json.loads(line)["decoded"]
        assert decoded == expected, f"seed {seed}: {text!r} gave {decoded!r}, not {expected!r}"
    print(f"{TEXTS} texts, seed {seed}")


if __name__ == "__main__":
    main()
