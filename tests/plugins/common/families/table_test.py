"""The table of families in the README of arch decoder has the rows of families.inc, in their order."""
import re

from harness import SOURCE, Checks

ROW = re.compile(r'^\{"([^"]+)", "([^"]+)", "([^"]+)"', re.M)
checks = Checks()
rows = ROW.findall((SOURCE / "plugins/common/families/families.inc").read_text())
page = (SOURCE / "plugins/arch/decoder/README.md").read_text()
listed = [[cell.replace("`", "").strip() for cell in line.split("|")[1:4]]
          for line in page.splitlines() if re.match(r"\| [a-z]\w+ \| `", line)]
checks.that(len(rows) >= 18, "rows of families.inc", len(rows))
checks.that(listed == [[name, gguf, hf.replace("|", ", ")] for name, gguf, hf in rows], "the table", listed, rows)
checks.done()
