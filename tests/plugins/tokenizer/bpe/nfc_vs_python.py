"""Form C against Python's unicodedata: a text through the qwen2 row and back is the text in form C.

usage: nfc_vs_python.py DRIVER FIXTURES [SEED]
"""
import random
import sys
import unicodedata

from driver import Driver
from random_text import random_text

TEXTS = 20000


def main():
    driver, fixtures = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    rng = random.Random(seed)
    texts = [random_text(rng) for _ in range(TEXTS)]
    load = {"gguf": f"{fixtures}/bpe-qwen2/tokenizer.json", "pre": "qwen2"}
    out = Driver(driver).encode(load, [{"text": text, "parse_special": False} for text in texts])
    for text, line in zip(texts, out):
        # A user-defined token is matched before the text between is brought into form C; the texts have two.
        parts = text.replace("<think>", "\0<think>\0").replace("<tool_call>", "\0<tool_call>\0").split("\0")
        if "\0" in text:
            continue
        expected = "".join(unicodedata.normalize("NFC", part) for part in parts)
        decoded = line["decoded"]
        assert decoded == expected, f"seed {seed}: {text!r} gave {decoded!r}, not {expected!r}"
    print(f"{TEXTS} texts, seed {seed}")


if __name__ == "__main__":
    main()
