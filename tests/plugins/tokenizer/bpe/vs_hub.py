"""The tokenizer against the package `tokenizers` (PyPI) over random Unicode text, for every pre-tokenizer.

usage: vs_hub.py DRIVER FIXTURES [SEED]
Exits 77 (skipped) where the package is not installed. Characters are those assigned in Unicode 14, PCRE2's
version; the package knows later ones and splits those otherwise. Its form C is of an older version than
utf8proc's, so marks and composed characters are those of Unicode 3.2.
"""
import json
import random
import subprocess
import sys
import unicodedata

try:
    from tokenizers import Regex, Tokenizer, pre_tokenizers
except ImportError:
    print("skipped: pip install tokenizers")
    sys.exit(77)

TEXTS = 4000
DATABASE = unicodedata if unicodedata.unidata_version.startswith("14.") else unicodedata.ucd_3_2_0
BLANKS = " \t\n\r\x0b\x0c\x1c\x85\xa0\u1680\u180e\u2003\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
DIGITS = "0123456789²¼Ⅷ٣५㊿"
MARKS = "\u0300\u0301\u0316\u0327\u0338\u05b0\u093c\u3099\u1161\u11a8"
BASES = "aeiouAEnÅéñकがㄱ가"
WORDS = ["the", " the", "'s", "'LL", "'ſ", "don't", "I'VE", "return", "    ", "\n\n", "\r\n", "世界", "สวัสดี",
         "привет", "😀", "👩‍👩‍👧", "...", "==", " !=", "<|", "|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>",
         "<think>", "<tool_call>", "<|im_end", "100", "3.14", "$5", "~~", "`x`", "^", "+1"]
# What "default" means, as the files' own four patterns in their order.
DEFAULT = [r"[\p{P}\$\+<=>\^~\|]+",
           r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
           r"\p{N}+", r"[0-9][0-9][0-9]"]
RUNS = [("bpe-gpt2", "gpt-2"), ("tiny-bpe", "gpt-2"), ("smollm2", "smollm"), ("bpe-qwen2", "qwen2"),
        ("bpe-llama3", "llama-bpe"), ("bpe-gpt2", "default")]


def assigned(rng):
    while True:
        point = rng.choice([rng.randrange(0x80), rng.randrange(0x3000), rng.randrange(0x110000)])
        char = chr(point)
        plain = DATABASE.combining(char) == 0 and DATABASE.normalize("NFD", char) == char
        known = DATABASE if plain else unicodedata.ucd_3_2_0
        if known.category(char) not in ("Cn", "Cs"):
            return char


def random_text(rng):
    kinds = [lambda: rng.choice(WORDS), lambda: rng.choice(BLANKS) * rng.randint(1, 3), lambda: assigned(rng),
             lambda: rng.choice(DIGITS), lambda: rng.choice(BASES) + rng.choice(MARKS) * rng.randint(0, 2),
             lambda: rng.choice(MARKS), lambda: chr(rng.randrange(0x20, 0x7F)) * rng.randint(1, 4)]
    return "".join(rng.choice(kinds)() for _ in range(rng.randint(1, 25)))


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
    text = "".join(json.dumps(case) + "\n" for case in cases)
    out = subprocess.run([driver, path, pre], input=text, capture_output=True, text=True, check=True).stdout
    answers = out.splitlines()
    assert len(answers) == len(cases), f"{len(answers)} answers"
    for case, answer in zip(cases, map(json.loads, answers)):
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
