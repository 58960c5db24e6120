"""SmolLM2 as AWQ: scales found on a text make a better model than rounding to nearest, both in AutoAWQ's layout."""
import json
import pathlib
import tempfile

from harness import SMOLLM2, Checks

from conversion import converted, perplexity

GROUP, TOKENS = 64, 1024
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
CALIBRATION = pathlib.Path("/usr/share/common-licenses/Apache-2.0")

checks = Checks()
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    nearest = converted(checks, SMOLLM2, "awq", scratch / "nearest", plugin__convert__group_size=GROUP)
    aware = converted(checks, SMOLLM2, "awq", scratch / "aware", plugin__convert__group_size=GROUP,
                      plugin__convert__calibration=str(CALIBRATION), plugin__convert__calibration_tokens=1024)
    config = json.loads((aware / "config.json").read_text())["quantization_config"]
    checks.that(config["quant_method"] == "awq" and config["group_size"] == GROUP, "config", config)
    base, plain, better = (perplexity(m, TEXT, TOKENS) for m in (SMOLLM2, nearest, aware))
    print(f"perplexity: source {base:.3f}, round to nearest {plain:.3f}, activation-aware {better:.3f}")
    checks.that(base < better < plain < 1.3 * base, "perplexities", base, better, plain)
checks.done()
