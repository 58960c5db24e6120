"""Rows out of public bug reports (tests/data/cases): which test holds each, and the ones that only the whole program
shows. A row of these areas without an entry fails, and so does an entry whose file does not name its row."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import BIN, DATA, SMOLLM2, SOURCE, Checks, fixture, jsonl, mortise, settings
from gguf_edit import edited, with_copy

AREAS = ("tok", "str", "tpl", "sam", "cfg", "kv", "wgt")
HERE, LATER = "tests/conformance/cases_test.py", None
TOKENIZER, SAMPLER = "tests/plugins/tokenizer/bpe/cases_test.cc", "tests/plugins/sampler/cases_test.cc"
STREAMING, ENGINE = "tests/conformance/streaming_test.py", "tests/conformance/engine_test.py"
HOSTILE, GGUF = "tests/conformance/hostile_weights_test.py", "tests/plugins/weights/gguf/parse_test.cc"
SENTENCEPIECE = "tests/plugins/tokenizer/sentencepiece/rows_test.cc"
HUB = "tests/plugins/common/hf/header_test.cc"
LOADER = "tests/runtime/loader/library_test.cc"
TEMPLATES = "tests/plugins/chat/jinja/differential_test.py"  # takes every tpl row that gives a rendered text
HELD = {
    "tok-01": TOKENIZER, "tok-02": TOKENIZER, "tok-04": TOKENIZER, "tok-05": TOKENIZER, "tok-07": TOKENIZER,
    "tok-08": SENTENCEPIECE, "tok-10": SENTENCEPIECE,
    "tok-11": HERE,
    "str-01": STREAMING, "str-02": STREAMING, "str-04": STREAMING, "str-05": STREAMING, "str-07": HERE,
    "str-08": "tests/sdk/utf8/utf8_test.cc",
    "tpl-11": HERE, "tpl-16": HERE,
    "sam-01": SAMPLER, "sam-02": SAMPLER, "sam-04": ENGINE, "sam-05": HERE, "sam-07": ENGINE, "sam-08": ENGINE,
    "sam-10": STREAMING, "sam-11": ENGINE,
    "cfg-01": HERE, "cfg-02": LOADER, "cfg-04": HERE, "cfg-05": LOADER,
    "kv-01": ENGINE, "kv-02": ENGINE, "kv-04": ENGINE, "kv-05": ENGINE,
    "kv-07": LATER,  # one process holds one pipeline, whose blocks are its own
    "wgt-01": HOSTILE, "wgt-02": HOSTILE, "wgt-04": GGUF, "wgt-05": HOSTILE, "wgt-07": HERE,
    "wgt-08": HUB, "wgt-10": HUB, "wgt-11": HUB, "wgt-13": HUB, "wgt-14": HUB,
}
checks = Checks()
rows = {row["id"]: row for row in map(json.loads, (DATA / "cases/cases.jsonl").read_text().splitlines())}
tiny, _ = fixture("llama-q8_0")
place = pathlib.Path(tempfile.mkdtemp(prefix="mortise-cases-")).resolve()


def table():
    for name in rows:
        area = name.split("-")[0]
        if area not in AREAS:
            continue
        if area == "tpl" and "rendered" in rows[name]["expected"]:
            checks.that('startswith("tpl")' in (SOURCE / TEMPLATES).read_text(), name, "is not taken by", TEMPLATES)
        elif HELD.get(name, "") is not LATER:
            path = SOURCE / HELD.get(name, "")
            checks.that(path.is_file() and name in path.read_text(), name, "is not named in", path)
    checks.that(set(HELD) <= set(rows), "entries without a row", set(HELD) - set(rows))


def tok_11():
    """A prompt whose bytes have no token ends as an empty one."""
    prompt = rows["tok-11"]["input"]["texts"][1]
    out = jsonl(SMOLLM2, [{"id": i, "prompt": p, "max_tokens": 2} for i, p in enumerate((prompt, "", "a" + prompt))])
    checks.that(out[0].get("error") == out[1].get("error") and "error" not in out[2], "tok-11", out)


def str_07():
    """A prompt that ends inside a character: only new text comes."""
    request = dict(rows["str-07"]["input"]["request"])
    request["tokens"] = request.pop("prompt")
    text = "".join(json.dumps({"id": i, **request, "stream": i == 1}) + "\n" for i in (1, 2))
    out = mortise("run", "jsonl", "-m", SMOLLM2, stdin=text)
    got = [json.loads(line) for line in out.stdout.split("\n") if line]
    deltas = "".join(a["delta"] for a in got if "delta" in a)
    finals = [a for a in got if "delta" not in a]
    checks.that(all("Hello world" not in a["text"] and a["text"] == deltas for a in finals), "str-07", got)
    checks.that(len(finals) == 2 and deltas != "", "str-07", got)


def chat(row, model, *more):
    """The answer to a row's messages under its template, and to a request after it."""
    path = place / "template.jinja"
    path.write_text(row["input"]["template"])
    request = {"max_tokens": 1, "ignore_eos": True, "temperature": 0}
    messages = [row["input"]["messages"], [{"role": "user", "content": "a"}], *more]
    return jsonl(model, [{"id": i, "messages": m, **request} for i, m in enumerate(messages)],
                 "--set", f"plugin.jinja.template_file={json.dumps(str(path))}")


def tpl_11():
    """What a template refuses is the request's error, in the template's words; the next request is served."""
    out = chat(rows["tpl-11"], SMOLLM2)
    checks.that("roles must alternate" in out[0].get("error", {}).get("message", ""), "tpl-11", out[0])
    checks.that(out[1]["finish_reason"] == "length", "tpl-11", out[1])


def tpl_16():
    """A template that writes the BOS, and a model that asks for one: it stands there once."""
    path, counts = place / "bos.gguf", []
    for value in (False, True):
        path.write_bytes(edited(tiny.read_bytes(), {"tokenizer.ggml.add_bos_token": value}))
        counts.append(chat(rows["tpl-16"], path)[1]["usage"]["prompt_tokens"])
    text = jsonl(path, [{"id": 1, "prompt": "[user]a", "max_tokens": 1}])[1]["usage"]["prompt_tokens"]
    checks.that(counts == [text, text], "tpl-16", counts, text)


def sam_05():
    """No alternatives asked for is a value, not "off"; what is out of range is named."""
    base = {"tokens": [5, 6, 7], "max_tokens": 2, "temperature": 0, "ignore_eos": True}
    out = jsonl(tiny, [{"id": i, **base, "top_logprobs": n} for i, n in enumerate((0, 3, 20, 21, -1))]
                + [{"id": 9, **base}])
    for i, n in enumerate((0, 3, 20)):
        checks.that([len(row["top"]) for row in out[i]["logprobs"]] == [n, n], "sam-05", n, out[i])
    checks.that([out[i]["error"]["param"] for i in (3, 4)] == ["top_logprobs"] * 2, "sam-05", out[3], out[4])
    checks.that("logprobs" not in out[9], "sam-05", out[9])


def cfg_01():
    """Misspelled, mistyped, out of range and doubled keys: file, line and column, and the nearest name."""
    head = '[use]\nfrontend = ["stdio"]\nsampler = ["temperature"]\n[plugin.stdio]\nmode = "jsonl"\n'
    for text, line, names in (
            ("[defaults]\ntemprature = 0.2\n", 7, ("temprature", "temperature")),
            ("[kv_cahce]\ndtype = 'f16'\n", 7, ("kv_cahce", "kv")),
            ('[model]\ncontext = "4096"\n', 7, ("model.context",)),
            ("[model]\ncontext = -1\n", 7, ("model.context", "16777216")),
            ("[kv]\ndtype = 'f16'\ndtype = 'f32'\n", 8, ("dtype",)),
            ("[plugin.stdio2]\nmode = 'jsonl'\n", 6, ("stdio2", "stdio"))):
        path = place / "p.toml"
        path.write_text(head + text)
        out = mortise("run", path, "-m", tiny, stdin="")
        checks.that(out.returncode == 2 and out.stderr.count("\n") == 1, "cfg-01", text, out.returncode, out.stderr)
        checks.that(f"{path}:{line}:" in out.stderr, "cfg-01", text, "place", out.stderr)
        checks.that(all(name in out.stderr for name in names), "cfg-01", text, out.stderr)


def cfg_04():
    """An installation finds its plugins from wherever it is started, and none in the working folder; a relative path of
    a pipeline file is relative to that file."""
    prefix, elsewhere = place / "prefix", place / "elsewhere"
    own = pathlib.Path(BIN).parents[1] / "lib/mortise"
    for folder in (prefix / "bin", elsewhere, elsewhere / "lib/mortise"):
        folder.mkdir(parents=True)
    shutil.copy(BIN, prefix / "bin/mortise")
    shutil.copytree(own, prefix / "lib/mortise")
    link = elsewhere / "host"
    link.symlink_to(prefix / "bin/mortise")
    for folder in (elsewhere, elsewhere / "lib/mortise"):
        shutil.copy(own / "mortise-sampler-top_k.so", folder / "mortise-sampler-top_k.so")
    env = {key: value for key, value in os.environ.items() if key != "MORTISE_PLUGINS"}
    seen = []
    for program, cwd in ((prefix / "bin/mortise", "/"), (prefix / "bin/mortise", prefix), (link, elsewhere)):
        out = subprocess.run([program, "plugins", "--json"], cwd=cwd, env=env, capture_output=True, text=True,
                             timeout=60)
        report = json.loads(out.stdout)
        seen.append([(row["kind"], row["name"], row["path"]) for row in report["plugins"]])
        checks.that(report["refused"] == [], "cfg-04", report["refused"])
    checks.that(len(seen[0]) > 20 and seen[0] == seen[1] == seen[2], "cfg-04", [len(s) for s in seen])
    checks.that(all(path.startswith(str(prefix / "lib/mortise")) for _, _, path in seen[0]), "cfg-04", seen[0][:3])
    shutil.copy(tiny, elsewhere / "near.gguf")
    pipeline = elsewhere / "p.toml"
    pipeline.write_text('[model]\npath = "near.gguf"\n[use]\nfrontend = ["stdio"]\n[plugin.stdio]\nmode = "jsonl"\n')
    out = subprocess.run([link, "run", pipeline], cwd="/", env=env, input='{"id":1,"tokens":[5],"max_tokens":1}\n',
                         capture_output=True, text=True, timeout=60)
    checks.that(out.returncode == 0 and '"finish_reason"' in out.stdout, "cfg-04", out)


def wgt_07():
    """Without output.weight the embedding is the head; the same numbers as a tensor of their own answer the same."""
    tied = fixture("llama3rope-q8_0")[0]
    path = place / "untied.gguf"
    path.write_bytes(with_copy(tied.read_bytes(), "token_embd.weight", "output.weight"))
    request = {"id": 1, "tokens": [5, 60, 7, 200], "max_tokens": 8, "temperature": 0, "ignore_eos": True,
               "top_logprobs": 5}
    one, other = jsonl(tied, [request])[1], jsonl(path, [request])[1]
    checks.that((one["tokens"], one["logprobs"]) == (other["tokens"], other["logprobs"]), "wgt-07", one, other)
    formats = json.loads(mortise("explain", "jsonl", "-m", path, *settings(), "--json").stdout)["kernels"]
    checks.that("output.weight" in [row["tensor"] for row in formats], "wgt-07", formats)


table()
for case in (tok_11, str_07, tpl_11, tpl_16, sam_05, cfg_01, cfg_04, wgt_07):
    case()
checks.done()
