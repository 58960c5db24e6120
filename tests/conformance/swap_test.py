"""Swap by one line: attention, sampler chain, linear kernel, each named in the pipeline file, with the same program and
the same plugin files before and after; the fixtures' tolerance table holds between the two. The linear kernel is the
example for authors, built out of tree."""
import json
import pathlib
import sys
import tempfile

from harness import SOURCE, Checks, fixture, jsonl, mortise
from kernels import BUILD, agree, answers, chosen, explain, installation
from compare import F16, F32, check_cases

sys.path.insert(0, str(SOURCE / "tests/sdk"))
import out_of_tree_test as out_of_tree  # noqa: E402

checks = Checks()
before = installation()
checks.that(len(before) > 10, "the installation", list(before))
place = pathlib.Path(tempfile.mkdtemp(prefix="mortise-swap-")).resolve()


def pipeline(**use):
    """A pipeline file of the scenario `jsonl` with these lines under [use]."""
    path = place / "pipeline.toml"
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in use.items())
    path.write_text(f'[use]\nfrontend = ["stdio"]\n{lines}[plugin.stdio]\nmode = "jsonl"\n')
    return path


def part(model, kind, config, *args, **sets):
    """The plugin that explain names for a kind."""
    run = mortise("explain", config, "-m", model, *args, "--json")
    assert run.returncode == 0, run.stderr
    return [row["name"] for row in json.loads(run.stdout)["parts"] if row["kind"] == kind]


def swap_attention():
    for name in ("llama-q8_0", "llama-q4_k_m", "qwen2-q5_0"):
        model, golden = fixture(name)
        for dtype, tolerance in (("f32", F32), ("f16", F16)):
            got = {}
            for attention in ("naive", "paged"):
                config = pipeline(attention=attention)
                got[attention] = answers(name, config=config, kv__dtype=dtype)
                checks.that(part(model, "attention", config) == [attention], name, attention)
                check_cases(checks, f"{name} {attention} {dtype}", got[attention], golden["cases"], tolerance)
            agree(checks, f"{name} naive and paged {dtype}", name, got["naive"], got["paged"], tolerance)


def swap_samplers():
    name = "llama-q8_0"
    model, _ = fixture(name)
    chains = (["temperature", "top_k"], ["penalties", "temperature", "top_p", "min_p"])
    got = []
    for chain in chains:
        config = pipeline(sampler=chain)
        checks.that(part(model, "sampler", config) == chain, chain, part(model, "sampler", config))
        got.append(answers(name, config=config))
    for i in got[0]:
        same = all(got[0][i][key] == got[1][i][key] for key in ("tokens", "logprobs", "finish_reason"))
        checks.that(same, "greedy answers under two chains", i)
    # A chain takes the parameters of its samplers, and no others.
    request = {"id": 1, "tokens": [7, 8, 9], "max_tokens": 12, "ignore_eos": True, "temperature": 1.5, "seed": 3}
    for chain, own, foreign in ((chains[0], {"top_k": 1}, "min_p"), (chains[1], {"min_p": 1.0}, "top_k")):
        config = pipeline(sampler=chain)
        greedy = jsonl(model, [{**request, "temperature": 0}], config=config)[1]["tokens"]
        drawn = jsonl(model, [request], config=config)[1]["tokens"]
        checks.that(jsonl(model, [{**request, **own}], config=config)[1]["tokens"] == greedy != drawn, chain, own)
        answer = jsonl(model, [{**request, foreign: 1}], config=config)[1]
        checks.that(answer.get("error", {}).get("param") == foreign, chain, answer)


def swap_linear():
    """The example's kernel against the reference, named by a pin."""
    prefix = place / "prefix"
    out_of_tree.run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "sdk")
    folder = out_of_tree.build("linear-q8_0", place, prefix)
    rows, refused = out_of_tree.listed(folder)
    checks.that([row["kind"] for row in rows] == ["linear"] and not refused, rows, refused)
    name, model = "llama-q8_0", fixture("llama-q8_0")[0]
    got = {}
    for plugin in ("reference", rows[0]["name"]):
        pin = {"kernels__pin": f'{{ "gguf.q8_0" = "{plugin}" }}', "kv__dtype": "f32"}
        report = explain(model, "--plugins", folder, **pin)
        checks.that(chosen(report) == {plugin} and report["batch_invariant"], plugin, report["kernels"])
        got[plugin] = answers(name, "--plugins", folder, **pin)
        check_cases(checks, f"{name} {plugin}", got[plugin], fixture(name)[1]["cases"], F32)
    agree(checks, "reference and the example", name, *got.values(), F32)


swap_attention()
swap_samplers()
swap_linear()
checks.that(installation() == before, "a file of the installation changed")
checks.done()
