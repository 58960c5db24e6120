"""How fast tokenizer.model files encode here, side by side with the package sentencepiece, one thread each.

usage: sentencepiece_bench.py DRIVER TEXT MODEL...
DRIVER is sentencepiece_bench (`ninja sentencepiece_bench`). The text is repeated to a MiB. Without MODEL, a BPE and a
unigram model are trained on the text.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import sentencepiece as spm

MIB = 1 << 20
ROUNDS = 3


def seconds(work):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def train(folder, text):
    for kind in ("bpe", "unigram"):
        spm.SentencePieceTrainer.train(input=text, model_prefix=f"{folder}/{kind}", model_type=kind, vocab_size=8000,
                                       hard_vocab_limit=False, byte_fallback=True, minloglevel=2)
        yield f"{folder}/{kind}.model"


def show(driver, model, text):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        out = subprocess.run([driver, model, file.name], capture_output=True, text=True, check=True).stdout
    load, *ours = map(float, out.split())
    package = spm.SentencePieceProcessor(model_file=model)
    lines = text.split("\n")
    theirs = [seconds(lambda: package.encode(text)), seconds(lambda: [package.encode(line) for line in lines])]
    size = len(text.encode()) / 1e6
    print(f"{pathlib.Path(model).name:20} load {load * 1000:5.0f} ms")
    for what, mine, other in zip(("whole", "lines"), ours, theirs):
        speeds = f"{size / mine:6.1f} MB/s, the package {size / other:6.1f} MB/s"
        print(f"  {what}: {speeds}, x{other / mine:.1f}", flush=True)


def main():
    driver, path, *models = sys.argv[1:]
    text = pathlib.Path(path).read_text()
    text = (text * (MIB // len(text) + 1))[:MIB]
    with tempfile.TemporaryDirectory() as folder:
        for model in models or train(folder, path):
            show(driver, model, text)


if __name__ == "__main__":
    main()
