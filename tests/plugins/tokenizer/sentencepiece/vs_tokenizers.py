"""A tokenizer.json of type Unigram against the package `tokenizers` (PyPI): vocabularies of random scores, with the
pre-tokenizers that T5, ALBERT and Llama-like files bring.

usage: vs_tokenizers.py DRIVER [SEED]
Exits 77 (skipped) where the package is not installed.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

from texts import random_text, words

try:
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
except ImportError:
    print("skipped: pip install tokenizers")
    sys.exit(77)

TEXTS = 1000


def vocabulary(rng, known, byte_fallback):
    """Pieces of known words with scores that tie often, so that the order of sums shows."""
    texts = ["<s>", "</s>", "<unk>"]
    texts += [f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else []
    parts = {"\u2581"} | set("aeioustnrlmd.,北京é")
    for word in known[:300]:
        word = "\u2581" + word
        begin = rng.randrange(len(word))
        parts.add(word[begin:begin + rng.randint(1, 8)])
    texts += sorted(parts)
    return [(text, 0.0 if text in texts[:3] else -rng.choice([1.5, 2, 2.5, 3, rng.random() * 12])) for text in texts]


def metaspace(scheme, split=True):
    return pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split), decoders.Metaspace(prepend_scheme=scheme)


def make(rng, known, kind):
    byte_fallback = kind == "llama"
    tokenizer = Tokenizer(models.Unigram(vocabulary(rng, known, byte_fallback), 2, byte_fallback))
    if kind == "t5":
        spaced, decoder = metaspace("always")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), spaced])
        tokenizer.decoder = decoder
    elif kind == "albert":
        tokenizer.normalizer = normalizers.Replace("``", '"')
        tokenizer.pre_tokenizer, tokenizer.decoder = metaspace("always")
    elif kind == "llama":
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
        steps = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        tokenizer.decoder = decoders.Sequence(steps)
    else:
        tokenizer.pre_tokenizer, tokenizer.decoder = metaspace("never", split=False)
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in ("<s>", "</s>", "<unk>")])
    return tokenizer


def main():
    driver = sys.argv[1]
    seed = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("MORTISE_SEED", random.randrange(1 << 32)))
    print(f"MORTISE_SEED={seed}", flush=True)
    for number, kind in enumerate(["t5", "albert", "llama", "plain"]):
        rng = random.Random(seed + number)
        known = words(rng, 800)
        tokenizer = make(rng, known, kind)
        # The package takes a text that spells a byte piece for it and decodes a byte; SentencePiece and we don't.
        texts = [random_text(rng, known).decode(errors="ignore").replace("<0x", "<x") for _ in range(TEXTS)]
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(f"{folder}/tokenizer.json")
            lines = "".join(json.dumps({"hex": text.encode().hex()}) + "\n" for text in texts)
            run = subprocess.run([driver, f"{folder}/tokenizer.json"], input=lines, capture_output=True, text=True)
        assert run.returncode == 0, f"{kind}: {run.stderr}"
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        assert len(answers) == len(texts), f"{kind}: {len(answers)} answers"
        for text, answer in zip(texts, answers):
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            assert answer["ids"] == ids, f"seed {seed}, {kind}: {text!r}: ours {answer['ids']}, theirs {ids}"
        print(f"{kind}: {len(texts)} texts", flush=True)


if __name__ == "__main__":
    main()
