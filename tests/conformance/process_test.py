"""The program as a process: signals while it loads, waits and answers; closed and full streams; many requests and long
lines. Exit statuses and one line of error are checked, and that nothing hangs; no time is asserted."""
import json
import signal
import subprocess
import tempfile
import time

from harness import BIN, SMOLLM2, Checks, fixture, mortise, settings

checks = Checks()
tiny, _ = fixture("llama-q8_0")
HANG_S = 60  # a process that takes longer hangs
SHORT = {"tokens": [5, 6, 7], "max_tokens": 3, "temperature": 0, "ignore_eos": True}
# Longer than any test waits.
ENDLESS = {"tokens": [5, 6, 7], "max_tokens": 10**6, "temperature": 0, "ignore_eos": True, "stream": True}
LONG_CONTEXT = settings(model__context=10**6, kv__memory="8 GiB")


def line(i, request):
    return json.dumps({"id": i, **request}).encode() + b"\n"


def start(*args, model=tiny, **streams):
    # Unbuffered: what one call has read is not lost to the next.
    return subprocess.Popen([BIN, "run", "jsonl", "-m", str(model), *args], bufsize=0,
                            **{**dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE), **streams})


def end(process, what):
    """(exit status, output, errors); a process that hangs is a failure."""
    try:
        out, err = process.communicate(timeout=HANG_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        checks.that(False, what, "hangs")
    return process.returncode, (out or b"").decode(), (err or b"").decode()


def ask(process, request):
    process.stdin.write(line(1, request))
    process.stdin.flush()


def first_answer(process):
    """Waits until the program has loaded and answers."""
    ask(process, SHORT)
    answer = process.stdout.readline()
    checks.that(json.loads(answer)["finish_reason"] == "length", "an answer", answer)


def signals():
    for number in (signal.SIGTERM, signal.SIGINT):
        # Waiting for input: it ends as at the end of the input.
        process = start()
        first_answer(process)
        process.send_signal(number)
        checks.that(end(process, f"{number} idle") == (0, "", ""), number, "idle", process.returncode)
        # Answering: what runs is finished.
        process = start()
        first_answer(process)
        process.stdin.write(b"".join(line(i, {**SHORT, "max_tokens": 200}) for i in range(20)))
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(number)
        status, out, err = end(process, f"{number} busy")
        checks.that(status == 0 and err == "", number, "busy", status, err)
        checks.that(all(json.loads(a)["finish_reason"] == "length" for a in out.splitlines()), number, "answers")
        # A second signal ends at once, whatever runs.
        process = start(*LONG_CONTEXT)
        ask(process, ENDLESS)
        process.stdout.readline()
        process.send_signal(number)
        time.sleep(0.5)
        checks.that(process.poll() is None, number, "the first waits for what runs", process.returncode)
        process.send_signal(number)
        status, _, err = end(process, f"{number} twice")
        checks.that(status == 128 + number, number, "twice", status, err)
    process = start(*LONG_CONTEXT)
    ask(process, ENDLESS)
    process.stdout.readline()
    process.kill()
    checks.that(end(process, "kill")[0] == -signal.SIGKILL, "kill", process.returncode)


def signals_at_load():
    """At any moment of the start: the signal's own end, or an orderly one; and the next start works."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        for delay_s in (0.0, 0.02, 0.1, 0.3, 0.6):
            process = start(model=SMOLLM2)
            time.sleep(delay_s)
            process.send_signal(number)
            status, out, err = end(process, f"{number} at load")
            checks.that(status in (-number, 0) and out == "", number, delay_s, status, err)
    out = mortise("run", "jsonl", "-m", SMOLLM2, stdin=line(1, SHORT).decode())
    checks.that(out.returncode == 0 and out.stderr == "" and "length" in out.stdout, "after that", out)


def one_error(what, status, err, word="standard output"):
    checks.that(status == 1 and err.count("\n") == 1 and err.startswith("mortise: error: " + word), what, status, err)


def streams():
    # Nobody reads the answers.
    process = start()
    first_answer(process)
    process.stdout.close()
    process.stdout = None
    ask(process, SHORT)
    status, _, err = end(process, "closed reader")
    one_error("closed reader", status, err)
    with open("/dev/full", "wb") as full, tempfile.TemporaryFile() as requests:
        requests.write(line(1, SHORT))
        requests.seek(0)
        status, _, err = end(start(stdin=requests, stdout=full), "full disk")
        one_error("full disk", status, err)
        for command in (["plugins"], ["explain", "jsonl", "-m", str(tiny)], ["version"], ["--help"]):
            out = subprocess.run([BIN, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANG_S)
            one_error(f"{command} to a full disk", out.returncode, out.stderr)
        with tempfile.NamedTemporaryFile() as file:
            command = ["sh", "-c", 'ulimit -f 0; exec "$0" version > "$1"', BIN, file.name]
            out = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=HANG_S)
            one_error("a file that may not grow", out.returncode, out.stderr)
        # Errors that cannot be told do not stop an answer.
        out = subprocess.run([BIN, "run", "jsonl", "-m", str(tiny), "--set", "model.context=4096"], stderr=full,
                             input=line(1, SHORT), stdout=subprocess.PIPE, timeout=HANG_S)
        checks.that(out.returncode == 0 and b"length" in out.stdout, "full standard error", out)


def closed_streams():
    """A descriptor that is closed at the start is not taken for a file that is opened later."""
    run = f"exec {BIN} run jsonl -m {tiny} "
    shell = ["bash", "-c"]
    out = subprocess.run([*shell, run + "<&-"], capture_output=True, text=True, timeout=HANG_S)
    checks.that(out.returncode in (0, 1) and out.stdout == "" and out.stderr.count("\n") == out.returncode,
                "no standard input", out)
    for command in (run, f"exec {BIN} plugins ", f"exec {BIN} explain jsonl -m {tiny} "):
        out = subprocess.run([*shell, command + ">&-"], input=line(1, SHORT).decode(), capture_output=True, text=True,
                             timeout=HANG_S)
        one_error(f"no standard output: {command}", out.returncode, out.stderr)
    out = subprocess.run([*shell, run + "2>&-"], input=line(1, SHORT).decode(), capture_output=True, text=True,
                         timeout=HANG_S)
    checks.that(out.returncode == 0 and "length" in out.stdout, "no standard error", out)


def inputs():
    # The input ends in the middle of a line, and while answers run.
    text = line(1, {**SHORT, "max_tokens": 100}) + line(2, SHORT).rstrip(b"\n")
    status, out, err = end_of(text)
    checks.that(status == 0 and sorted(a["id"] for a in out) == [1, 2], "no newline at the end", out, err)
    checks.that(end_of(b"") == (0, [], "") and end_of(b"\n \n\r\n") == (0, [], ""), "nothing to do")
    # Lines near and over the limit of 16 MiB: the next one is read all the same.
    for size, fine in ((1 << 20, True), (17 << 20, False), (40 << 20, False)):
        text = b'{"id":1,"x":"' + b"a" * size + b'"}\n' + line(2, SHORT)
        status, out, err = end_of(text)
        errors = [a.get("error", {}) for a in out if a["id"] != 2]
        checks.that(status == 0 and err == "" and len(out) == 2 and len(errors) == 1, size, status, err)
        checks.that(("16777216" in errors[0]["message"]) != fine, size, errors)
    # A thousand requests.
    text = b"".join(line(i, {**SHORT, "tokens": [5 + i % 300, 6, 7]}) for i in range(1000))
    status, out, err = end_of(text)
    checks.that(status == 0 and err == "" and sorted(a["id"] for a in out) == list(range(1000)), "thousand", err)
    checks.that(all(len(a["tokens"]) == 3 for a in out), "thousand")


def end_of(text):
    """(exit status, answers, errors) of an input."""
    out = subprocess.run([BIN, "run", "jsonl", "-m", str(tiny)], input=text, capture_output=True, timeout=HANG_S)
    return out.returncode, [json.loads(a) for a in out.stdout.splitlines()], out.stderr.decode()


for part in (signals, signals_at_load, streams, closed_streams, inputs):
    part()
checks.done()
