"""Our engine against jinja2: the corpus of templates over message lists, the cases, random small templates.
Thread rule: one process beside render_lines. Flow: CTest runs it with the path of render_lines; arguments:
--seed N --count N --show N. A random template that differs is printed with its seed, which `--seed N --count 1`
replays."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import conversations
import generator

try:
    import reference
except ImportError:
    print("skipped: needs jinja2; pip install Jinja2, or apt-get install python3-jinja2")
    sys.exit(77)

HERE = pathlib.Path(__file__).parent
# Where our engine leaves Python, with these errors: integers beyond 64 bits, complex numbers, and slices of what
# has none (an error in jinja2 too, unless its constant folding meets it first, as in {{ 1[2:] }}).
LEFT_OUT = ("64 bits", "complex numbers", "subscriptable by a slice")


class Engine:
    """The engine in its own process, one JSON line a template."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, row):
        self.process.stdin.write(json.dumps(row) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the engine died on: {row!r}")
        answer = json.loads(line)
        return answer.get("rendered"), answer.get("error")


def differs(engine, template, variables):
    """None where both agree, else a report."""
    try:
        wanted, reason = reference.render(template, variables)
    except (RecursionError, reference.Unprintable):
        return None
    got, error = engine.ask({"template": template, "vars": variables})
    if wanted is not None and reference.is_unprintable(wanted):
        return None
    if got == wanted or (error is not None and any(text in error for text in LEFT_OUT)):
        return None
    shown = template if len(template) < 1000 else template[:60] + "..."
    return f"template: {shown!r}\n  jinja2: {wanted!r} ({reason})\n  ours:   {got!r} ({error})"


def corpus(engine):
    """Every template of the corpus over every conversation."""
    checked, rendered, reports = 0, 0, []
    for path in sorted((HERE / "templates").glob("*.jinja")):
        template = path.read_text(encoding="utf-8")
        alive = False
        for name, variables in conversations.all_variables():
            checked += 1
            alive = alive or reference.render(template, variables)[0] is not None
            report = differs(engine, template, variables)
            if report:
                reports.append(f"{path.name} over {name}: {report}")
        if not alive:
            reports.append(f"{path.name}: jinja2 renders it over no conversation, so it proves nothing")
        rendered += alive
    print(f"corpus: {rendered} templates, {checked} renders")
    return reports


def cases(engine):
    """The rows of the case collection that give template, vars and rendered text."""
    source = pathlib.Path(os.environ["MORTISE_SOURCE"]) / "tests/data/cases/cases.jsonl"
    checked, reports = 0, []
    for line in source.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["id"].startswith("tpl") or "rendered" not in row["expected"]:
            continue
        given = row["input"]
        ask = {"template": given["template"]}
        if "vars" in given:
            ask["vars"] = given["vars"]
        else:
            ask["request"] = json.dumps({"messages": given["messages"]})
        got, error = engine.ask(ask)
        checked += 1
        if (
            got is None
            or got != row["expected"]["rendered"]
            and got.rstrip("\n") != row["expected"]["rendered"]
        ):
            reports.append(f"{row['id']}: {got!r} ({error}), wanted {row['expected']['rendered']!r}")
    print(f"cases: {checked}")
    if checked < 8:
        reports.append("too few cases were found")
    return reports


def randoms(engine, seed, count):
    """Templates of seeds seed .. seed + count - 1."""
    reports, rendered = [], 0
    for i in range(seed, seed + count):
        template = generator.Generator(i).template()
        report = differs(engine, template, generator.VARIABLES)
        rendered += reference_alive(template)
        if report:
            reports.append(f"seed {i}: {report}")
    print(f"random templates: seeds {seed} to {seed + count - 1}, {rendered} of {count} render")
    return reports


def reference_alive(template):
    try:
        return reference.render(template, generator.VARIABLES)[0] is not None
    except (RecursionError, reference.Unprintable):
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, help="random templates only, from this seed on")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--show", type=int, default=10)
    arguments = parser.parse_args()
    engine = Engine(arguments.program)
    # The same templates every time, so that a change is judged by itself; to search for more, give another seed.
    seed = arguments.seed if arguments.seed is not None else 1
    reports = [] if arguments.seed is not None else corpus(engine) + cases(engine)
    reports += randoms(engine, seed, arguments.count)
    for report in reports[: arguments.show]:
        print(report)
    print(f"{len(reports)} differences")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
