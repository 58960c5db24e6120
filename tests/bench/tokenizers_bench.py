"""How fast tokenizers encode here, side by side with the packages that people use, one thread each.

usage: tokenizers_bench.py DRIVER FIXTURES [TEXT FILE]
DRIVER is bpe_tokenizers_bench (`ninja bpe_tokenizers_bench`); needs the packages tokenizers and tiktoken, for tekken
also mistral-common. The text is repeated to a MiB; one word of a MiB and a MiB of one letter are timed too.
"""
import base64
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tiktoken  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

MIB = 1 << 20
ROUNDS = 3
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
         r"\s*[\r\n]+|\s+(?!\S)|\s+")


def texts(path):
    text = pathlib.Path(path).read_text(errors="replace")
    text = (text * (MIB // len(text) + 1))[:MIB]
    word = "".join(chr(ord("a") + (i * i * 2654435761 >> 20) % 26) for i in range(MIB))
    return {"text": text, "letter": "a" * MIB, "word": word}


def seconds(encode, text):
    best = None
    for _ in range(ROUNDS):
        start = time.perf_counter()
        encode(text)
        taken = time.perf_counter() - start
        best = taken if best is None else min(best, taken)
    return best


def ours(driver, kind, path, text):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        out = subprocess.run([driver, kind, path, file.name, str(ROUNDS)], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def show(driver, name, kind, path, encode, given):
    for what, text in given.items():
        mine = ours(driver, kind, path, text)
        theirs = seconds(encode, text) if what == "text" else None
        size = len(text.encode()) / 1e6
        row = f"{name:12} {what:7} load {mine['load_s'] * 1000:6.0f} ms  {size / mine['encode_s']:6.1f} MB/s"
        package = f"  package {size / theirs:5.1f} MB/s  x{theirs / mine['encode_s']:.1f}" if theirs else ""
        print(row + package, flush=True)


def main():
    driver, fixtures = sys.argv[1], pathlib.Path(sys.argv[2])
    given = texts(sys.argv[3] if len(sys.argv) > 3 else "/usr/share/common-licenses/GPL-3")
    for name in ("smollm2", "bpe-llama3", "bpe-qwen2", "bpe-gpt2"):
        path = str(fixtures / name / "tokenizer.json")
        tokenizer = Tokenizer.from_file(path)
        show(driver, name, "hub", path, lambda text, t=tokenizer: t.encode(text, add_special_tokens=False), given)
    package = importlib.util.find_spec("mistral_common")
    if not package:
        print("tekken and tiktoken: not run, as the package mistral-common is not installed")
        return
    path = str(pathlib.Path(package.origin).parent / "data" / "tekken_240911.json")
    model = json.loads(pathlib.Path(path).read_text())
    count = model["config"]["default_vocab_size"] - model["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(e["token_bytes"]): e["rank"] for e in model["vocab"][:count]}
    tekken = tiktoken.Encoding(name="x", pat_str=model["config"]["pattern"], mergeable_ranks=ranks, special_tokens={})
    show(driver, "tekken", "tekken", path, tekken.encode_ordinary, given)
    qwen = tiktoken.Encoding(name="x", pat_str=SPLIT, mergeable_ranks=ranks, special_tokens={})
    with tempfile.NamedTemporaryFile("w", suffix=".tiktoken") as file:
        file.write("".join(f"{base64.b64encode(part).decode()} {rank}\n" for part, rank in ranks.items()))
        file.flush()
        show(driver, "tiktoken", "tiktoken", file.name, qwen.encode_ordinary, given)


if __name__ == "__main__":
    main()
