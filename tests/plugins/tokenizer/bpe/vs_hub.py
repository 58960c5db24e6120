"""The tokenizer against the package `tokenizers` (PyPI) over random Unicode text, for every pre-tokenizer.

usage: vs_hub.py DRIVER FIXTURES [SEED]
Exits 77 (skipped) where the package is not installed.
"""
import random
import sys

from driver import Driver
from random_text import random_text

try:
    from tokenizers import Regex, Tokenizer, pre_tokenizers
except ImportError:
    print("skipped: pip install tokenizers")
    sys.exit(77)

TEXTS = 4000
# What "default" means, as the files' own four patterns in their order.
DEFAULT = [r"[\p{P}\$\+<=>\^~\|]+",
           r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
           r"\p{N}+", r"[0-9][0-9][0-9]"]
RUNS = [("bpe-gpt2", "gpt-2"), ("tiny-bpe", "gpt-2"), ("smollm2", "smollm"), ("bpe-qwen2", "qwen2"),
        ("bpe-llama3", "llama-bpe"), ("bpe-gpt2", "default")]


def hub_tokenizer(path, pre):
    tokenizer = Tokenizer.from_file(path)
    if pre == "default":
        splits = [pre_tokenizers.Split(Regex(p), "isolated") for p in DEFAULT]
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            splits + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return tokenizer


def compare(driver, path, pre, texts, seed):
    tokenizer = hub_tokenizer(path, pre)
    cases = [{"text": text, "parse_special": special} for text in texts for special in (True, False)]
    answers = Driver(driver).encode({"gguf": path, "pre": pre}, cases)
    for case, answer in zip(cases, answers):
        tokenizer.encode_special_tokens = not case["parse_special"]
        ids = tokenizer.encode(case["text"], add_special_tokens=False).ids
        context = f"seed {seed}, {pre}: {case}"
        assert answer["ids"] == ids, f"{context}: ours {answer['ids']}, theirs {ids}"
        decoded = tokenizer.decode(ids, skip_special_tokens=False)
        assert answer["decoded"] == decoded, f"{context}: ours {answer['decoded']!r}, theirs {decoded!r}"


def main():
    driver, fixtures = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    rng = random.Random(seed)
    for name, pre in RUNS:
        texts = [random_text(rng) for _ in range(TEXTS)]
        compare(driver, f"{fixtures}/{name}/tokenizer.json", pre, texts, seed)
        print(f"{name} as {pre}: {len(texts)} texts, seed {seed}")


if __name__ == "__main__":
    main()
