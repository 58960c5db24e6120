"""Random text for the tokenizer's tests: scripts, blanks, digits, marks, and what pre-tokenizers look at.

Characters are those assigned in Unicode 14, PCRE2's version; the package `tokenizers` knows later ones and splits
those otherwise. Its form C is of an older version than utf8proc's, so marks and composed characters are those of
Unicode 3.2.
"""
import unicodedata

DATABASE = unicodedata if unicodedata.unidata_version.startswith("14.") else unicodedata.ucd_3_2_0
BLANKS = " \t\n\r\x0b\x0c\x1c\x85\xa0\u1680\u180e\u2003\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
DIGITS = "0123456789²¼Ⅷ٣५㊿"
MARKS = "\u0300\u0301\u0316\u0327\u0338\u05b0\u093c\u3099\u1161\u11a8"
BASES = "aeiouAEnÅéñकがㄱ가"
WORDS = ["the", " the", "'s", "'LL", "'ſ", "don't", "I'VE", "return", "    ", "\n\n", "\r\n", "世界", "สวัสดี",
         "привет", "😀", "👩‍👩‍👧", "...", "==", " !=", "<|", "|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>",
         "<think>", "<tool_call>", "<|im_end", "100", "3.14", "$5", "~~", "`x`", "^", "+1"]


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
