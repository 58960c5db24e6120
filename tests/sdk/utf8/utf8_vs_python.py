"""Utf8Stream against Python's incremental decoder over random bytes in random pieces.

usage: utf8_vs_python.py DRIVER [SEED]
Joined text must be equal. Piece by piece our stream may only be ahead: Python waits for the third byte of a surrogate
half (ED A0 ..) though no byte can mend it.
"""
import codecs
import random
import subprocess
import sys

LINES = 20000
# Bytes at the edges of the table of well-formed sequences, and some plain ones.
EDGES = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
         0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]


def random_pieces(rng):
    def piece():
        if rng.random() < 0.3:
            return chr(rng.choice([0x61, 0xE9, 0x20AC, 0x1F600])).encode()[: rng.randint(1, 4)]
        return bytes(rng.choice(EDGES) for _ in range(rng.randint(0, 4)))
    return [piece() for _ in range(rng.randint(1, 8))]


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    rng = random.Random(seed)
    cases = [random_pieces(rng) for _ in range(LINES)]
    text = "\n".join(" ".join(p.hex() or "-" for p in case) for case in cases) + "\n"
    out = subprocess.run([sys.argv[1]], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(out) == LINES, f"seed {seed}: {len(out)} lines"
    for case, line in zip(cases, out):
        ours = [b"" if w == "-" else bytes.fromhex(w) for w in line.split()]
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        theirs = [decoder.decode(p) for p in case] + [decoder.decode(b"", True)]
        context = f"seed {seed}: {[p.hex() for p in case]}: {ours} against {theirs}"
        done = ""
        for i, ours_now in enumerate(ours):
            done += ours_now.decode()  # raises where a piece isn't whole characters
            assert done.startswith("".join(theirs[: i + 1])), context
        assert done == "".join(theirs), context
    print(f"{LINES} lines, seed {seed}")


if __name__ == "__main__":
    main()
