"""Random vocabularies as tiktoken files, and Mistral's tekken.json, against the package `tiktoken` (PyPI).

usage: vs_tiktoken.py DRIVER FIXTURES [SEED]
The published tekken.json lies in the package mistral-common; without it its rows are not run, and the script says so.
Exits 77 (skipped) where tiktoken is not installed.
"""
import base64
import importlib.util
import json
import os
import pathlib
import random
import sys
import tempfile

from driver import Driver
from random_text import random_text

try:
    import tiktoken
except ImportError:
    print("skipped: pip install tiktoken")
    sys.exit(77)

TEXTS = 1500
LETTERS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
PATTERNS = {
    "qwen": f"{SHORT}|{LETTERS}|\\p{{N}}|{REST}",
    "llama": f"{SHORT}|{LETTERS}|\\p{{N}}{{1,3}}|{REST}",
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k_base": (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"
                    r"\s*[\r\n]|\s+(?!\S)|\s"),
    "o200k_base": (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SHORT}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SHORT}?|"
                   r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"),
}


def random_ranks(rng):
    """All bytes, then pieces of random text in an order that no training would give."""
    order = list(range(256))
    rng.shuffle(order)
    ranks = {bytes([byte]): rank for rank, byte in enumerate(order)}
    for _ in range(rng.randint(50, 1500)):
        text = random_text(rng).encode()
        begin = rng.randrange(len(text))
        part = text[begin:begin + rng.randint(2, 8)]
        ranks.setdefault(part, len(ranks))
    return ranks


def compare(driver, load, encoding, texts, offset, where):
    answers = driver.encode(load, [{"text": text, "parse_special": False} for text in texts])
    for text, answer in zip(texts, answers):
        ids = [id + offset for id in encoding.encode_ordinary(text)]
        assert answer["ids"] == ids, f"{where}: {text!r}: ours {answer['ids']}, theirs {ids}"
        assert answer["decoded"] == text, f"{where}: {text!r} decoded to {answer['decoded']!r}"


def tiktoken_files(driver, rng, seed):
    for model_type, pattern in PATTERNS.items():
        ranks = random_ranks(rng)
        encoding = tiktoken.Encoding(name="x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        with tempfile.NamedTemporaryFile("w", suffix=".tiktoken") as file:
            lines = [f"{base64.b64encode(part).decode()} {rank}\n" for part, rank in ranks.items()]
            rng.shuffle(lines)
            file.write("".join(lines))
            file.flush()
            texts = [random_text(rng) for _ in range(TEXTS)]
            load = {"tiktoken": file.name, "model_type": model_type}
            compare(driver, load, encoding, texts, 0, f"seed {seed}, {model_type}")
        print(f"{model_type}: {len(ranks)} ranks, {TEXTS} texts, seed {seed}")


def tekken_file(driver, rng, fixtures, seed):
    package = importlib.util.find_spec("mistral_common")
    path = package and pathlib.Path(package.origin).parent / "data" / "tekken_240911.json"
    if not path or not os.path.exists(path):
        print("tekken: not run, as the package mistral-common is not installed")
        return
    model = json.loads(path.read_text())
    config = model["config"]
    count = config["default_vocab_size"] - config["default_num_special_tokens"]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in model["vocab"][:count]}
    encoding = tiktoken.Encoding(name="x", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={})
    texts = [random_text(rng) for _ in range(TEXTS)]
    load = {"tekken": str(path)}
    compare(driver, load, encoding, texts, config["default_num_special_tokens"], f"seed {seed}, tekken")
    rows = json.loads(pathlib.Path(fixtures, "tekken", "rows.json").read_text())["rows"]
    for row, answer in zip(rows, driver.encode(load, [{"text": row["text"]} for row in rows])):
        assert answer["ids"] == row["ids"], f"tekken: {row}: ours {answer}"
        assert answer["decoded"] == row.get("decoded", row["text"]), f"tekken: {row}: ours {answer}"
    print(f"tekken: {len(rows)} rows, {TEXTS} texts, seed {seed}")


def main():
    driver, fixtures = Driver(sys.argv[1]), sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    rng = random.Random(seed)
    tiktoken_files(driver, rng, seed)
    tekken_file(driver, rng, fixtures, seed)


if __name__ == "__main__":
    main()
