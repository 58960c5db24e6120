"""The modes chat and text of the program itself, chat on a pseudo-terminal with real signals.
Thread rule: none. Flow: keys in, what the terminal shows out; needs SmolLM2."""
import os, pty, re, select, sys, time
import harness

FOREVER = ["--set", "defaults.temperature=0", "--set", "defaults.ignore_eos=true"]


class Terminal:
    """A child on a terminal of its own: Ctrl-C there is a SIGINT to it."""

    def __init__(self, *args):
        self.shown = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(harness.BIN, [harness.BIN, *map(str, args)])

    def type(self, text):
        os.write(self.fd, text.encode())

    def until(self, wanted, seconds=60):
        """What was shown up to `wanted`."""
        end = time.monotonic() + seconds
        while wanted not in self.shown:
            ready = select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]
            try:
                got = os.read(self.fd, 65536) if ready else b""
            except OSError:
                got = b""
            if not got:
                raise AssertionError(f"never showed {wanted!r}, but {self.shown!r}")
            self.shown += got.decode(errors="replace")
        before, self.shown = self.shown.split(wanted, 1)
        return before

    def status(self, seconds=60):
        """The exit status. What is still shown is read first: the child waits for its terminal to drain."""
        end = time.monotonic() + seconds
        try:
            while select.select([self.fd], [], [], max(0, end - time.monotonic()))[0] and os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        if time.monotonic() >= end:
            os.kill(self.pid, 9)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def chat(checks):
    terminal = Terminal("run", "chat", "-m", harness.SMOLLM2, *FOREVER)
    checks.that("SmolLM2" in terminal.until(">>> "), "a line about the model before the first prompt")
    terminal.type("\x03")
    terminal.until("Ctrl-D or /bye ends the chat.")
    terminal.until(">>> ")
    terminal.type("half a line\x03")
    terminal.until(">>> ")
    terminal.type("/set max_tokens 5\r")
    terminal.until(">>> ")
    terminal.type('"""\rWhat is\rthe capital of France?\r"""\r')
    answer = terminal.until(">>> ")
    checks.that("... " in answer, "continuation prompts between the fences", answer)
    terminal.type("/stats\r")
    checks.that(" 5 tokens" in terminal.until(">>> "), "five tokens were answered")
    terminal.type("/set max_tokens\rCount to a thousand.\r")
    terminal.until("thousand.")
    time.sleep(1)  # the answer goes on for ever
    terminal.type("\x03")
    terminal.until("[stopped]")
    terminal.until(">>> ")
    terminal.type("/bye\r")
    checks.that(terminal.status() == 0, "/bye ends well")
    terminal = Terminal("run", "chat", "-m", harness.SMOLLM2)
    terminal.until(">>> ")
    terminal.type("\x04")
    checks.that(terminal.status() == 0, "Ctrl-D ends well")
    terminal = Terminal("run", "chat", "-m", harness.SMOLLM2)
    terminal.type("\x04")
    checks.that(terminal.status() == 0, "Ctrl-D before the prompt is there ends well")


def text(checks):
    run = harness.mortise("run", "text", "-m", harness.SMOLLM2, "--set", "plugin.stdio.stats=true",
                          "--set", "defaults.temperature=0", "What is the capital of France?")
    checks.that(run.returncode == 0 and run.stderr == "", run.stderr)
    checks.that("Paris" in run.stdout, run.stdout)
    checks.that(re.search(r"\n\[time to first token \d+\.\d+ s, \d+\.\d tokens/s, ", run.stdout), run.stdout)
    piped = harness.mortise("run", "text", "-m", harness.SMOLLM2, "--set", "defaults.temperature=0",
                            stdin="What is the capital of France?\n")
    checks.that(run.stdout.startswith(piped.stdout), "a pipe asks the same as an argument", piped.stdout)


if not harness.SMOLLM2.exists():
    sys.exit(harness.SKIP)
all_checks = harness.Checks()
chat(all_checks)
text(all_checks)
all_checks.done()
