"""Runs the demonstration set and writes its figures into docs/reference/metrics.md.

Needs the demonstration corpus (`python manage.py demo --load`). Whatever else the database
holds is searched too; the table names the corpus revision.

    python benchmarks/demo_quality.py [--answerer claude]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "metrics.md"
BETWEEN = re.compile(r"(<!-- demo:start -->\n).*?(<!-- demo:end -->)", re.DOTALL)


def measured(answerer: str) -> dict[str, Any]:
    """What `manage.py evaluate demo --json` prints."""
    command = [sys.executable, "manage.py", "evaluate", "demo", "--json", "--answerer", answerer]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def table(found: dict[str, Any]) -> str:
    """The figures as Markdown, and how they were got."""
    rows = ["| metric | value | 95 % interval | questions |", "| --- | --- | --- | --- |"]
    for name, value in found["metrics"].items():
        low, high = found["intervals"].get(name, (None, None))
        interval = "" if low is None else f"{shown(name, low)} to {shown(name, high)}"
        rows.append(f"| `{name}` | {shown(name, value)} | {interval} | {found['over'][name]} |")
    wrong = [q["id"] for q in found["questions"] if not q["passed"]]
    rows += [
        "",
        f"Answerer {found['answerer']}, {found['count']} questions, "
        f"{datetime.now(UTC):%Y-%m-%d}, code {found['code_version']}, corpus revision "
        f"{found['corpus_revision']}, {os.cpu_count()} cores. "
        + (f"Not as labelled: {', '.join(wrong)}." if wrong else "All came out as labelled."),
    ]
    return "\n".join(rows) + "\n"


def shown(name: str, value: float | None) -> str:
    """A figure with as many digits as it deserves."""
    if value is None:
        return "–"
    return f"{value:.0f}" if name == "leaks" or name.endswith("_ms") else f"{value:.3f}"


def main() -> None:
    """Measure, and replace the table of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answerer", choices=("claude", "extractive"), default="extractive")
    found = table(measured(parser.parse_args().answerer))
    page = PAGE.read_text("utf-8")
    PAGE.write_text(BETWEEN.sub(lambda m: f"{m[1]}{found}{m[2]}", page), "utf-8")
    print(found)


if __name__ == "__main__":
    main()
