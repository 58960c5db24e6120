"""A model of 7B's size is mapped, packed and ready without ever being held twice: peak memory is at most 10% above the
total that explain says. Argument: q4_k_m, q4_0 or awq."""
import json
import os
import subprocess
import sys
import tempfile

from harness import BIN, SKIP, Checks, mortise, settings
from tools.large_model import make, table_bytes

KIND = sys.argv[1]
SETS = settings(kv__memory="64MiB", model__context=512, engine__max_batch_tokens=64, use__tokenizer="none")


def explained(model):
    run = mortise("explain", "jsonl", "-m", model, *SETS, "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)["memory"]


def peak_of_answer(model):
    """Of one request in a process of its own: the answer, and the most bytes resident, with the file's pages."""
    process = subprocess.Popen([BIN, "run", "jsonl", "-m", model, *SETS], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    process.stdin.write(b'{"id": 1, "tokens": [7], "max_tokens": 1, "ignore_eos": true}\n')
    process.stdin.close()
    answer = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, status
    return json.loads(answer), usage.ru_maxrss * 1024


def free_bytes():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))


checks = Checks()
with tempfile.TemporaryDirectory() as folder:
    model = make(KIND, f"{folder}/model" + ("" if KIND == "awq" else ".gguf"))
    memory = explained(model)
    if free_bytes() < 1.5 * memory["total_bytes"]:
        print("not enough free memory for", memory["total_bytes"], "bytes")
        sys.exit(SKIP)
    answer, peak = peak_of_answer(model)
    print(f"{KIND}: peak {peak / 2**20:.0f} MiB, explain says {memory['total_bytes'] / 2**20:.0f} MiB")
    checks.that(answer.get("tokens") and answer["usage"]["completion_tokens"] == 1, "the answer", answer)
    checks.that(peak <= 1.1 * memory["total_bytes"], "peak", peak, memory)
    # Rows of the table of embeddings are read as they are wanted; all else is there, and no tensor twice.
    packed = memory["total_bytes"] - table_bytes(KIND)
    checks.that(0.95 * packed <= peak <= 1.03 * packed, "peak without the table", peak, packed)
checks.done()
