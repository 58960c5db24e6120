"""Random tokenizer.json files: every part that the runtime reads, over small vocabularies.

Metaspace with "first" stands only where nothing came before it: the package asks which character of the input a piece
comes from, the runtime whether the piece begins the text. No pattern matches the empty text: on some texts the package
then never ends, or replaces the first match twice.
"""
import json

from random_text import random_text

LETTERS = list("abcdeilnorst 0123▁Ġ.,'é世\n")
PATTERNS = [r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+", r"\s", r"[a-z]+", r"\w+|\W", r"\d{2}", r"(?<=a)b|c",
            r"[^\W\d_]+",
            r"a{2}+", r"[ei&&[^i]]|o", r"[a[^\x00-\x7f]]+", r"\bs|t\b", r"(?i:'s|'LL|an)", r"^a|e$", r"\h+",
            r".",
            r"(?m:a.)", r"[\s\d]+", r"[^\S\n]", r"\p{^L}+", r"[[:alpha:]]+", r"(a|e)+i", r"[\]a-]", r"\u0061|\x{65}",
            r"n{,2}o", r"\p{Lu}\p{Ll}*", r"\S+\s?", r"[\p{L}--x]+", r"(?>a+)b", r"\p{Script=Han}+|\p{Han}", r"(?!a)\w"]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def pattern(rng):
    if rng.random() < 0.3:
        return {"String": rng.choice([" ", "a", "an", ".", "é", "'", "\n", "[", "a+"])}
    return {"Regex": rng.choice(PATTERNS)}


def normalizer(rng, depth=0):
    kinds = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Replace", "Prepend", "Nmt",
             "BertNormalizer", "ByteLevel"] + ["Sequence"] * (3 if depth == 0 else 0)
    kind = rng.choice(kinds)
    part = {"type": kind}
    if kind == "Strip":
        part.update(strip_left=rng.random() < 0.5, strip_right=rng.random() < 0.5)
    if kind == "Replace":
        part.update(pattern=pattern(rng), content=rng.choice(["", "▁", " ", "xy"]))
    if kind == "Prepend":
        part["prepend"] = rng.choice(["▁", "a"])
    if kind == "BertNormalizer":
        part.update(clean_text=rng.random() < 0.5, handle_chinese_chars=rng.random() < 0.5,
                    strip_accents=rng.choice([None, True, False]), lowercase=rng.random() < 0.5)
    if kind == "Sequence":
        part["normalizers"] = [normalizer(rng, 1) for _ in range(rng.randint(0, 3))]
    return part


def pre_tokenizer(rng, depth=0, first=True):
    kinds = ["Split"] * 4 + ["ByteLevel", "ByteLevel", "Metaspace", "Metaspace", "Digits", "Punctuation", "Whitespace",
                             "WhitespaceSplit", "CharDelimiterSplit", "BertPreTokenizer", "FixedLength"]
    kind = rng.choice(kinds + ["Sequence"] * (6 if depth == 0 else 0))
    part = {"type": kind}
    if kind == "Split":
        part.update(pattern=pattern(rng), behavior=rng.choice(BEHAVIORS), invert=rng.random() < 0.3)
    if kind == "ByteLevel":
        part.update(add_prefix_space=rng.random() < 0.5, trim_offsets=True, use_regex=rng.random() < 0.5)
    if kind == "Metaspace":
        schemes = ["always", "never"] + (["first"] if first else [])
        part.update(replacement=rng.choice("▁_"), prepend_scheme=rng.choice(schemes), split=rng.random() < 0.7)
    if kind == "Digits":
        part["individual_digits"] = rng.random() < 0.5
    if kind == "Punctuation":
        part["behavior"] = rng.choice(BEHAVIORS)
    if kind == "CharDelimiterSplit":
        part["delimiter"] = rng.choice(" a.")
    if kind == "FixedLength":
        part["length"] = rng.randint(1, 6)
    if kind == "Sequence":
        part["pretokenizers"] = [pre_tokenizer(rng, 1, first and i == 0) for i in range(rng.randint(0, 4))]
    return part


def decoder(rng):
    mark = rng.choice("▁_")
    plain = [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
             {"type": "Metaspace", "replacement": mark, "prepend_scheme": rng.choice(["always", "never"]),
              "split": True},
             {"type": "Sequence", "decoders": [
                 {"type": "Replace", "pattern": {"String": mark}, "content": " "}, {"type": "ByteFallback"},
                 {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
             {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
             {"type": "Replace", "pattern": {"Regex": "[a-c]"}, "content": "<>"},
             {"type": "Strip", "content": "a", "start": 1, "stop": 0}]
    return rng.choice(plain + [None])


def merges(rng, vocab, prefix):
    known, out = list(vocab), []
    for _ in range(rng.randint(0, 120)):
        left, right = rng.choice(known), rng.choice(known)
        if prefix and not right.startswith(prefix):
            continue
        text = left + right[len(prefix):]
        if len(text) > 12 or " " in left + right or text.startswith("#version"):
            continue
        if text not in vocab:
            vocab[text] = len(vocab)
            known.append(text)
        out.append([left, right])
    return out


def model(rng, byte_alphabet):
    prefix, suffix = rng.choice([("", "")] * 6 + [("##", ""), ("", "</w>")])
    letters = [c for c in LETTERS if rng.random() < 0.8] + (byte_alphabet if rng.random() < 0.6 else [])
    vocab = {}
    for letter in letters + [prefix + c for c in letters] + [c + suffix for c in letters]:
        vocab.setdefault(letter, len(vocab))
    fallback = rng.random() < 0.4
    if fallback:
        for byte in range(256):
            if byte < 250 or rng.random() < 0.5:
                vocab.setdefault(f"<0x{byte:02X}>", len(vocab))
    unknown = rng.choice([None, "<unk>"])
    if unknown:
        vocab[unknown] = len(vocab)
    pairs = merges(rng, vocab, prefix)
    if rng.random() < 0.5:
        pairs = [" ".join(pair) for pair in pairs]
    return {"type": "BPE", "dropout": None, "unk_token": unknown, "continuing_subword_prefix": prefix or None,
            "end_of_word_suffix": suffix or None, "fuse_unk": rng.random() < 0.5, "byte_fallback": fallback,
            "ignore_merges": rng.random() < 0.4, "vocab": vocab, "merges": pairs}


def added_tokens(rng, made, special_only_raw):
    """With ignore_merges no special token is one of the model's: the runtime never makes one of a plain word."""
    vocab, whole = made["vocab"], made["ignore_merges"]
    contents = ["<s>", "<|im_end|>", "the", "an", " x", "é", "[T]", "<|end|>", "Day"]
    out, next_id = [], len(vocab)
    for content in rng.sample(contents, rng.randint(0, 5)):
        if content in vocab:
            token_id = vocab[content]
        else:
            token_id, next_id = next_id, next_id + 1
        special = rng.random() < 0.5 and not (whole and content in vocab)
        out.append({"id": token_id, "content": content, "single_word": rng.random() < 0.2, "lstrip": rng.random() < 0.2,
                    "rstrip": rng.random() < 0.2, "special": special,
                    "normalized": rng.random() < 0.5 and not (special and special_only_raw)})
    return out


def post_processor(rng, added):
    if not added or rng.random() < 0.5:
        return None
    token = rng.choice(added)
    name = token["content"]
    table = {name: {"id": name, "ids": [token["id"]], "tokens": [name]}}
    special, text = {"SpecialToken": {"id": name, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
    pair = [text, {"Sequence": {"id": "B", "type_id": 1}}]
    single = rng.choice([[special, text], [text, special], [special, text, special]])
    template = {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": table}
    roberta = {"type": "RobertaProcessing", "sep": [name, token["id"]], "cls": [name, token["id"]],
               "trim_offsets": True, "add_prefix_space": False}
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    return rng.choice([template, roberta, {"type": "Sequence", "processors": [level, template]}])


def frame_of(made):
    """The ids that the post-processor puts before and behind those of a text."""
    part = made["post_processor"]
    if part is None:
        return [], []
    if part["type"] == "Sequence":
        part = part["processors"][1]
    if part["type"] == "RobertaProcessing":
        return [part["cls"][1]], [part["sep"][1]]
    ids = [part["special_tokens"][i["SpecialToken"]["id"]]["ids"][0] if "SpecialToken" in i else None
           for i in part["single"]]
    at = ids.index(None)
    return ids[:at], ids[at + 1:]


def config(rng, byte_alphabet):
    made = model(rng, byte_alphabet)
    added = added_tokens(rng, made, rng.random() < 0.5)
    normal = normalizer(rng) if rng.random() < 0.6 else None
    # A rule may leave two tokens the same text, one a part of another's, or none at all: there the package takes the
    # last, looks into none that it passes over, or never ends.
    if any(rule in json.dumps(normal) for rule in ("Replace", "Accents", "Bert")):
        for token in added:
            token["normalized"] = False
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normal,
            "pre_tokenizer": pre_tokenizer(rng, first=normal is None) if rng.random() < 0.9 else None,
            "post_processor": post_processor(rng, added), "decoder": decoder(rng), "model": made}


def text_for(rng, made):
    """Marks and punctuation that the package's older tables lack are none there: no random characters for what strips
    accents or cuts at punctuation."""
    words = ["the", " x", "é", "<s>", "<|im_end|>", "[T]", "Day", " Day ", "an", "tion", "stone", " 12 ", "aab", "İ",
             "ſ", "▁a", "\u2028", "ﬁ", "½", "e\u0301"]
    rules = json.dumps([made["normalizer"], made["pre_tokenizer"]])
    if not any(rule in rules for rule in ("Accents", "Bert", "Punctuation")) and rng.random() < 0.3:
        return random_text(rng)
    return "".join(rng.choice(words + LETTERS) for _ in range(rng.randint(0, 20)))
