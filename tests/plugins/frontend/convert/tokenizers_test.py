"""Tokenizers survive a change of dialect: a hub folder's in the GGUF made of it, a GGUF's in the folder made of it, row
by row as the reference tokenizers have them."""
import json
import pathlib
import shutil
import tempfile

from harness import DATA, MODELS, SMOLLM2, Checks, mortise

from conversion import convert, converted

FIXTURES = DATA / "fixtures/tokenizers"
GEMMA = MODELS / "gemma-3-270m-q4_k_m.gguf"


def check_rows(checks, what, model, rows):
    requests = "".join(json.dumps({"text": row["text"]}) + "\n" for row in rows)
    run = mortise("run", "tokenize", "-m", model, stdin=requests)
    checks.that(run.returncode == 0, what, run.stderr)
    for row, line in zip(rows, filter(None, run.stdout.split("\n"))):
        got = json.loads(line)
        checks.that(got.get("ids") == row["ids"], what, row["text"], got.get("ids"), row["ids"])


def framed(model):
    """Ids of a text with what the model asks for around it."""
    run = mortise("run", "tokenize", "-m", model, stdin='{"text": "hello", "add_special": true}\n')
    return json.loads(run.stdout)["ids"] if run.returncode == 0 else run.stderr


def rows_of(name):
    return json.loads((FIXTURES / name / "rows.json").read_text())["rows"]


checks = Checks()
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    for name in ("smollm2", "bpe-llama3", "bpe-qwen2", "bpe-gpt2", "tiny-bpe", "mistral-v3", "spm-bpe"):
        folder = scratch / name
        shutil.copytree(DATA / "fixtures/tiny/llama", folder)
        for path in (FIXTURES / name).glob("tokenizer*"):
            shutil.copy(path, folder)
        out = converted(checks, folder, "gguf-f16", scratch / f"{name}.gguf")
        rows = rows_of(name)
        if name in ("mistral-v3", "spm-bpe"):
            # A bare tokenizer.model takes control pieces for text; a GGUF does not say so.
            rows = [row for row in rows if "ids_plain" not in row and "<" not in row["text"]]
        check_rows(checks, f"{name} as gguf", out, rows)
        if out is None:
            continue
        back = converted(checks, out, "safetensors-bf16", scratch / f"{name}-back")
        for made in (out, back):
            checks.that(framed(made) == framed(folder), name, made, framed(made), framed(folder))
    # What a GGUF can't say of a tokenizer is refused, also where it is an absent word's meaning.
    whole = json.loads((FIXTURES / "bpe-qwen2/tokenizer.json").read_text())
    for what in ("prefix", "no bytes", "affix"):
        other = json.loads(json.dumps(whole))
        steps = other["pre_tokenizer"]["pretokenizers"]
        if what == "prefix":
            del steps[1]["add_prefix_space"]
        elif what == "no bytes":
            del steps[1]
        else:
            other["model"]["end_of_word_suffix"] = "</w>"
        (scratch / "bpe-qwen2/tokenizer.json").write_text(json.dumps(other))
        run = convert(scratch / "bpe-qwen2", "gguf-f16", scratch / "refused.gguf")
        checks.that(run.returncode == 1 and "tokenizer.json" in run.stderr, what, run.returncode, run.stderr)
    check_rows(checks, "smollm2 as hub folder", converted(checks, SMOLLM2, "safetensors-bf16", scratch / "hub"),
               rows_of("smollm2"))
    if GEMMA.exists():
        check_rows(checks, "gemma3 as hub folder", converted(checks, GEMMA, "safetensors-bf16", scratch / "gemma"),
                   rows_of("gemma3"))
checks.done()
