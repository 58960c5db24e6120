"""What explain says of memory: the scratch of attention is in it, and whole blocks decide what fits."""
import json

from harness import Checks, block_bytes, fixture, mortise, settings

checks = Checks()
tiny, _ = fixture("llama-q8_0")


def explain(**sets):
    run = mortise("explain", "jsonl", "-m", tiny, *settings(**sets), "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


# The plain attention keeps a score per position of the context, on each thread.
short, long = (explain(model__context=n, use__attention="naive", engine__threads=1)["memory"] for n in (32768, 65536))
more = long["workspace_bytes"] - short["workspace_bytes"]
checks.that(more >= 4 * 32768, "scratch of attention", short, long)
checks.that(long["total_bytes"] == sum(v for k, v in long.items() if k not in ("total_bytes", "kv_bytes_per_token")),
            "the total is the sum", long)

# A sequence of 100 tokens takes 7 blocks of 16.
block = block_bytes(tiny)
for blocks, want in ((6, 0), (7, 1), (13, 1), (14, 2), (25, 3)):
    fits = explain(model__context=100, kv__memory=blocks * block)["fits"]
    checks.that(fits == {"tokens": blocks * 16, "sequences": want}, "fits", blocks, fits)
checks.done()
