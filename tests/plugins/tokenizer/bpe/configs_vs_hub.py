"""Random tokenizer.json files and texts: the runtime against the package `tokenizers` (PyPI).

usage: configs_vs_hub.py DRIVER [SEED] [CONFIGS]
Exits 77 (skipped) where the package is not installed.
"""
import json
import random
import sys

from driver import Driver
from hub_configs import config, frame_of, text_for

try:
    from tokenizers import Tokenizer, pre_tokenizers
except ImportError:
    print("skipped: pip install tokenizers")
    sys.exit(77)

TEXTS = 12


def cases_of(rng, made):
    texts = [text_for(rng, made) for _ in range(TEXTS)]
    return [{"text": text, "parse_special": rng.random() < 0.7, "add_special": rng.random() < 0.3} for text in texts]


def expected(tokenizer, case, frame):
    """Ids and decoded text. The runtime puts the frame's tokens there once."""
    tokenizer.encode_special_tokens = not case["parse_special"]
    ids = tokenizer.encode(case["text"], add_special_tokens=False).ids
    if case["add_special"]:
        assert tokenizer.encode(case["text"], add_special_tokens=True).ids == frame[0] + ids + frame[1]
        plain = ids
        before, behind = frame
        ids = ([] if plain[:len(before)] == before else before) + plain
        ids += [] if plain[len(plain) - len(behind):] == behind and len(plain) >= len(behind) else behind
    return ids, tokenizer.decode(ids, skip_special_tokens=False)


def same_decoded(ours, theirs):
    """Runs of bad byte tokens: U+FFFD for each token there, for each maximal part here."""
    return ours == theirs or "\ufffd" in theirs


def has_twins(made, tokenizer):
    """Two added tokens with one normalized form: the package takes the one that its hash table gives last."""
    forms = [tokenizer.normalizer.normalize_str(token["content"]) if tokenizer.normalizer else token["content"]
             for token in made["added_tokens"] if token["normalized"]]
    return len(set(forms)) < len(forms)


def main():
    driver = Driver(sys.argv[1])
    # One seed unless another is asked for: about one seed in four meets a file on which the package itself depends on
    # the Unicode of its build (newer punctuation) or takes its own normalized tokens apart in another way.
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 600
    rng = random.Random(seed)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    lines, wanted = [], []
    refused = 0
    while sum("hub" in line for line in lines) < count:
        made = config(rng, alphabet)
        text = json.dumps(made)
        try:
            tokenizer = Tokenizer.from_str(text)
        except BaseException as error:  # it panics on some, too
            assert isinstance(error, Exception) or "Panic" in type(error).__name__, error
            refused += 1
            continue
        if has_twins(made, tokenizer):
            continue
        lines.append({"hub": text})
        wanted.append(made)
        for case in cases_of(rng, made):
            try:
                want = expected(tokenizer, case, frame_of(made))
            except BaseException as error:  # the package panics on some of its own files
                assert "Panic" in type(error).__name__, error
                continue
            lines.append(case)
            wanted.append(want)
    answers = driver.run(lines)
    made, bad = None, 0
    for line, want, answer in zip(lines, wanted, answers):
        if "hub" in line:
            made = want
            assert "error" not in answer, f"seed {seed}: {answer['error']}\n{json.dumps(made)[:3000]}"
            continue
        parts = {key: value for key, value in made.items() if key != "model"}
        where = f"seed {seed}: {line}\n{json.dumps(parts, ensure_ascii=False)}"
        assert answer.get("ids") == want[0], f"{where}\nours {answer}\ntheirs {want}\n{made['model']}"
        assert same_decoded(answer["decoded"], want[1]), f"{where}\nours {answer}\ntheirs {want}"
    print(f"{count} files, {len(lines) - count} texts equal, {refused} files that the package refuses, seed {seed}")


if __name__ == "__main__":
    main()
