"""Runs what README and docs show: `sh` blocks as they stand (but for the two commands that install and test
everything), `toml` blocks through explain, `cpp` and `cmake` blocks with a file name as a plugin outside the tree. A
link to a file that is not there fails, and so does an interface that its header names otherwise."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness import BIN, SMOLLM2, SOURCE, Checks, mortise

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
LEFT_OUT = {"./quickstart", "./check"}  # install packages and run this test; the CI runs both
checks = Checks()
scratch = pathlib.Path(tempfile.mkdtemp(prefix="mortise-docs-"))
work, prefix, plugin = scratch / "work", scratch / "prefix", scratch / "plugin"
for folder in (work, plugin):
    folder.mkdir()
(work / "models").symlink_to(SMOLLM2.parent)
(work / "build").symlink_to(SOURCE / "build")
build = pathlib.Path(os.environ["MORTISE_BUILD"])
env = {**os.environ, "PATH": f"{build}/bin:{os.environ['PATH']}", "PREFIX": str(prefix), "MODEL": str(SMOLLM2)}


def run(doc, block, where):
    lines = [line for line in block.split("\n") if line.strip() and line.strip() not in LEFT_OUT]
    if not lines:
        return
    script = "\n".join(lines).replace("build/release", str(build))
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=where, env=env, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, capture_output=True)
    checks.that(done.returncode == 0, doc, block, done.stdout[-800:], done.stderr[-800:])


def complete(block):
    """A TOML block may be a part of a file; the model is the one at hand."""
    text = re.sub(r'(path = )"[^"]*"', rf'\1"{SMOLLM2}"', block)
    return re.sub(r'"my-kernel"', '"reference"', text)


docs = sorted([SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *SOURCE.glob("docs/**/*.md"),
               *SOURCE.glob("plugins/**/README.md"), *SOURCE.glob("examples/**/README.md")])
for doc in docs:
    name, text = doc.relative_to(SOURCE), doc.read_text()
    for link in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        checks.that((doc.parent / link).exists(), name, "link to", link)
    if doc.parent not in (SOURCE, SOURCE / "docs") or name == pathlib.Path("CONTRIBUTING.md"):
        continue
    for language, info, block in FENCE.findall(text):
        info = info.strip()
        if language == "sh":
            run(name, block, plugin if info == "plugin" else work)
        elif language in ("cpp", "cmake") and info:
            (plugin / info).write_text(block)
        elif language == "toml":
            path = scratch / "block.toml"
            path.write_text(complete(block))
            out = mortise("explain", path, "-m", SMOLLM2)
            checks.that(out.returncode == 0, name, block, out.stderr)
# The table of kinds names each kind's interface as its header does.
for kind, header, interface in re.findall(r"^\| (\w+) \| `(\w+\.h)` \| `([\w./]+)` \|",
                                          (SOURCE / "docs/writing_a_plugin.md").read_text(), re.M):
    defined = re.findall(rf'"(mortise\.draft\.{kind}/\d+)"', (SOURCE / "sdk/include/mortise" / header).read_text())
    checks.that(defined == [interface], "writing_a_plugin.md", kind, interface, "but the header says", defined)
# The README's plugin is the one that writing_a_plugin.md builds.
shown = [b for lang, _, b in FENCE.findall((SOURCE / "README.md").read_text()) if lang == "cpp"]
checks.that(shown and shown[0] == (plugin / "once.cc").read_text(), "README and writing_a_plugin.md show two plugins")
shutil.rmtree(scratch)
checks.done()
