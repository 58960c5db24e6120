"""Several front ends in one pipeline: one that fails ends the others too, so that its error is seen."""
import socket
import subprocess

from harness import BIN, Checks, fixture, settings

checks = Checks()
tiny, _ = fixture("llama-q8_0")
with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    listen = f"127.0.0.1:{taken.getsockname()[1]}"
    args = settings(use__frontend=["stdio", "http"], plugin__http__listen=listen)
    with subprocess.Popen([BIN, "run", "jsonl", "-m", str(tiny), *args], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            run.wait(timeout=60)  # standard input stays open: stdio alone would wait for ever
        except subprocess.TimeoutExpired:
            run.kill()
        error = run.stderr.read()
checks.that(run.returncode == 1, "exit", run.returncode, error)
checks.that(error.startswith("mortise: error: ") and error.count("\n") == 1 and listen in error, error)
checks.done()
