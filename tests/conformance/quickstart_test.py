"""What ./quickstart runs last: the pipeline quickstart answers its question sensibly, the same each time, and ends with
its speed; options may stand before and behind the question."""
from harness import SMOLLM2, Checks, mortise

QUESTION = "What is the capital of France?"
checks = Checks()

for command in (("quickstart", "-m", SMOLLM2, QUESTION),
                ("quickstart", "-m", SMOLLM2, "--set", "defaults.max_tokens=30", QUESTION),
                ("--set", "defaults.max_tokens=30", "quickstart", QUESTION, "-m", SMOLLM2)):
    run = mortise("run", *command)
    checks.that(run.returncode == 0 and run.stderr.count("mortise:") == 0, command, run.stderr)
    checks.that("Paris" in run.stdout, command, run.stdout)
    shown = run.stdout + run.stderr
    checks.that("time to first token" in shown and "tokens/s" in shown, command, shown)

run = mortise("run", "quickstart", "-m", SMOLLM2, "--set", QUESTION)
checks.that(run.returncode == 2 and "has no '='" in run.stderr, run.returncode, run.stderr)
checks.done()
