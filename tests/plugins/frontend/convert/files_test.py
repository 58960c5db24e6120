"""What `convert` writes is read by the Python `gguf` and `safetensors` packages; block types that do not fit a row fall
back; wrong settings, an output that exists and a killed run leave things as they were."""
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import gguf
from harness import BIN, DATA, SMOLLM2, Checks, fixture, mortise, settings

from conversion import check_golden, convert, converted

checks = Checks()
TINY, GOLDEN = fixture("llama-f16")
TYPES = {"gguf-q4_k": {"Q4_K", "Q5_0", "Q8_0", "F32"}, "gguf-q6_k": {"Q6_K", "Q8_0", "F32"},
         "gguf-q4_0": {"Q4_0", "Q8_0", "F32"}, "gguf-q4_1": {"Q4_1", "Q8_0", "F32"}, "gguf-q8_0": {"Q8_0", "F32"},
         "gguf-bf16": {"BF16", "F32"}, "gguf-f16": {"F16", "F32"}, "gguf-f32": {"F32"}}

with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)

    # SmolLM2 has rows of 576, which 256 does not divide and 32 does, and of 1536.
    for to, types in TYPES.items():
        out = converted(checks, SMOLLM2, to, scratch / "smollm2.gguf")
        if out is None:
            continue
        reader, source = gguf.GGUFReader(out), gguf.GGUFReader(SMOLLM2)
        got = {t.tensor_type.name for t in reader.tensors}
        checks.that(got == types, to, got)
        fallback = {t.tensor_type.name for t in reader.tensors if len(t.shape) == 2 and t.shape[0] % 256}
        checks.that(to not in ("gguf-q4_k", "gguf-q6_k") or fallback <= {"Q5_0", "Q8_0"}, to, "fallback", fallback)
        checks.that([t.name for t in reader.tensors] == [t.name for t in source.tensors], to, "names")
        keys = set(source.fields) - {"general.file_type", "general.quantization_version"}
        checks.that(keys <= set(reader.fields), to, "keys", keys - set(reader.fields))
        out.unlink()

    # Exact types keep the answers.
    for to in ("gguf-f16", "gguf-f32"):
        out = converted(checks, TINY, to, scratch / f"{to}.gguf")
        check_golden(checks, to, out, GOLDEN["cases"])

    def refused(what, where, *parts, status=2, model=TINY, **sets):
        run = mortise("run", "convert", "-m", model, *settings(**sets))
        lines = run.stderr.splitlines()
        checks.that(run.returncode == status and len(lines) == 1 and lines[0].startswith(f"mortise: error: {where}")
                    and all(p in lines[0] for p in parts), what, run.returncode, run.stderr)

    good = {"plugin__convert__to": "gguf-f16", "plugin__convert__output": str(scratch / "new.gguf")}
    refused("no target", "plugin.convert.to", "is not set", "gguf-q4_k", "awq")
    refused("unknown target", "plugin.convert.to", "gguf-q3", "known are", **{**good, "plugin__convert__to": "gguf-q3"})
    refused("no output", "plugin.convert.output", plugin__convert__to="awq")
    (scratch / "there").mkdir()
    refused("output exists", "plugin.convert.output", "exists",
            **{**good, "plugin__convert__output": str(scratch / "there")})
    refused("no folder for it", str(scratch / "nowhere"), status=1,
            **{**good, "plugin__convert__output": str(scratch / "nowhere/new.gguf")})
    refused("group size", "plugin.convert.group_size", "-1", **{**good, "plugin__convert__group_size": 12})
    refused("calibration", "plugin.convert.calibration", "awq", **{**good, "plugin__convert__calibration": str(TINY)})
    # Conv1D weights lie the other way round: no AWQ folder of them would be read back.
    gpt2, as_gguf = DATA / "fixtures/tiny/gpt2", scratch / "gpt2.gguf"
    converted(checks, gpt2, "gguf-f16", as_gguf)
    for source, where in ((gpt2, "model_type"), (as_gguf, "general.architecture")):
        refused("transposed", where, "AWQ", "gguf", status=1, model=source, plugin__convert__to="awq",
                plugin__convert__output=str(scratch / "gpt2-awq"))
    checks.that(not (scratch / "new.gguf").exists() and not (scratch / "gpt2-awq").exists(),
                "a refused run writes nothing")

    # The calibration text may be longer than the model's context, and the context shorter than a window.
    model = scratch / "short"
    shutil.copytree(DATA / "fixtures/tiny/llama", model)
    shutil.copy(DATA / "fixtures/tokenizers/tiny-bpe/tokenizer.json", model)
    (scratch / "text").write_text("The quick brown fox jumps over the lazy dog. " * 60)
    for context in (512, 24, 2):
        converted(checks, model, "awq", scratch / f"awq-{context}", plugin__convert__group_size=32,
                  plugin__convert__calibration=str(scratch / "text"), model__context=context)

    # An interrupted run says of what, and leaves nothing.
    process = subprocess.Popen([BIN, "run", "convert", "-m", str(SMOLLM2), *settings(
        plugin__convert__to="gguf-q4_k", plugin__convert__output=str(scratch / "stopped"))], stderr=subprocess.PIPE)
    while not list(scratch.glob("stopped*")):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    line = process.communicate()[1].decode()
    checks.that(process.returncode == 1 and line.startswith(f"mortise: error: {scratch}/stopped: ") and "; " in line,
                "interrupted", process.returncode, line)
    checks.that(not list(scratch.glob("*stopped*")), "an interrupted run left something")

    # Killed at any time: the name holds a whole file or nothing.
    for to, name in (("gguf-q4_k", "killed.gguf"), ("safetensors-bf16", "killed")):
        for after_ms in (20, 150, 400, 900):
            target = scratch / name
            process = subprocess.Popen([BIN, "run", "convert", "-m", str(SMOLLM2), *settings(
                plugin__convert__to=to, plugin__convert__output=str(target))], stdout=subprocess.PIPE)
            time.sleep(after_ms / 1000)
            process.send_signal(signal.SIGKILL)
            out = process.communicate()[0]
            if out == b"":
                checks.that(not target.exists(), to, after_ms, "a killed run left its target")
            elif target.is_file():
                target.unlink()
checks.done()
