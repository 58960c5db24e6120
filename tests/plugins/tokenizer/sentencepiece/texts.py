"""Random text for the tokenizer's tests: words of the training text, blanks of every kind, scripts, marks, what
normalization changes, and bytes that are no UTF-8."""
import random

BLANKS = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\u00a0", "\u2003", "\u200b", "\u3000", "\ufeff", "\u2581",
          "\u2581\u2581"]
ODD = ["ﬁ", "ﷺ", "①", "Ⅷ", "ｶﾞ", "Å", "A\u030a", "é", "e\u0301", "ß", "ẞ", "İ", "ſ", "Σς", "𝐜", "한", "ㄱㅏ", "を", "が",
       "か\u3099", "½", "x²", "…", "“q”", "’s", "—", "～", "㍿", "\u00ad", "\u0000", "\u0007", "\x7f", "\ud7ff",
       "\U0010ffff", "👩\u200d👧", "🇫🇷", "<unk>", "<s>", "</s>", "<0x41>", "<sep>", "<se", "<sep", "zz", "zzz", "a b",
       "北京", "привет", "שלום", "สวัสดี", "\u0338"]
BAD = [b"\xff", b"\xc3", b"\xe2\x96", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\x80", b"\xf5\x80\x80\x80"]

_LETTERS = "aeioustnrlmd"


def words(rng, count):
    """A small language of its own: words that repeat, of few syllables."""
    syllables = ["".join(rng.choice(_LETTERS) for _ in range(rng.randint(1, 3))) for _ in range(60)]
    return ["".join(rng.choice(syllables) for _ in range(rng.randint(1, 4))) for _ in range(count)]


def training_text(rng):
    """Lines to train a model on, with other scripts and normalization's favourites among the words."""
    vocabulary = words(rng, 800)
    lines = []
    for _ in range(2500):
        line = [rng.choice(vocabulary[:rng.randint(1, len(vocabulary))]) for _ in range(rng.randint(1, 12))]
        if rng.random() < 0.3:
            line.insert(rng.randrange(len(line) + 1), rng.choice([odd for odd in ODD if odd.isprintable()]))
        if rng.random() < 0.3:
            line[0] = line[0].capitalize() + rng.choice(",.;!?")
        lines.append(rng.choice([" ", " ", " ", "  "]).join(line))
    return vocabulary, lines


def random_char(rng):
    while True:
        char = chr(rng.choice([rng.randrange(1, 0x80), rng.randrange(0x3000), rng.randrange(0x110000)]))
        if not 0xD800 <= ord(char) < 0xE000:
            return char


def random_text(rng, vocabulary):
    """Bytes: one time in eight with some that are no UTF-8."""
    kinds = [lambda: rng.choice(vocabulary), lambda: " " + rng.choice(vocabulary), lambda: rng.choice(vocabulary)[:2],
             lambda: rng.choice(BLANKS), lambda: rng.choice(ODD), lambda: random_char(rng),
             lambda: rng.choice(_LETTERS) * rng.randint(1, 40)]
    parts = [rng.choice(kinds)().encode() for _ in range(rng.randint(0, 20))]
    if rng.random() < 0.125:
        parts.insert(rng.randrange(len(parts) + 1), rng.choice(BAD))
    return b"".join(parts)
