"""The tables of docs/explanation/ingestion-quality.md, from what was measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.ingestion_quality import Corpus, Totals

START, END = "<!-- measured: begin -->", "<!-- measured: end -->"
_MB = 1e6


def write_tables(rows: Sequence[Corpus], *, page: Path | None) -> None:
    """Print the tables, and put them between the markers of `page`."""
    tables = "\n\n".join(
        [
            f"Measured {_dates(rows)} by `benchmarks/ingestion_quality.py`.",
            "### What arrives",
            _table(rows, _ARRIVES),
            "### How it is divided",
            _table(rows, _DIVIDED),
            "### What it costs",
            _table(rows, _COSTS),
            "### Statutes: articles found",
            _table([row for row in rows if row.systems["ours"].articles], _ARTICLES),
            "### Failures",
            _failures(rows),
        ]
    )
    print(tables)
    if page is not None:
        text = page.read_text(encoding="utf-8")
        pattern = re.compile(f"{START}.*?{END}", re.DOTALL)
        page.write_text(pattern.sub(lambda _: f"{START}\n\n{tables}\n\n{END}", text))


def _dates(rows: Sequence[Corpus]) -> str:
    days = sorted({row.measured_on for row in rows})
    return f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"


Column = tuple[str, Callable[["Corpus"], str]]


def _table(rows: Sequence[Corpus], columns: Sequence[Column]) -> str:
    lines = [
        f"| {' | '.join(title for title, _ in columns)} |",
        "| --- |" + " ---: |" * (len(columns) - 1),
    ]
    lines += [f"| {' | '.join(show(row) for _, show in columns)} |" for row in rows]
    return "\n".join(lines)


def _both(show: Callable[[Totals], str]) -> Callable[[Corpus], str]:
    return lambda row: f"{show(row.systems['ours'])} / {show(row.systems['peer'])}"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.3f}" if values else "–"


def _seconds(totals: Totals) -> str:
    return f"{totals.seconds / max(totals.read_bytes / _MB, 1e-9):.2f}"


def _ratio(row: Corpus) -> str:
    peer = row.systems["peer"].seconds
    return f"{row.systems['ours'].seconds / peer:.2f}" if peer else "–"


def _child_share(row: Corpus) -> str:
    return f"{row.child_peak_per_byte:.0f}" if row.child_peak_per_byte else "–"


def _child_seconds(row: Corpus) -> str:
    return f"{row.child_seconds / (row.child_bytes / _MB):.2f}" if row.child_bytes else "–"


def _child_peak(row: Corpus) -> str:
    return f"{row.child_peak_bytes / _MB:.0f}" if row.child_bytes else "–"


def _covered(row: Corpus) -> str:
    return _percent(row.systems["ours"].covered, row.systems["ours"].body)


def _name(row: Corpus) -> str:
    return row.name


_ARRIVES: tuple[Column, ...] = (
    ("corpus", _name),
    ("files", lambda row: str(row.files)),
    ("MB", lambda row: f"{row.size_bytes / _MB:.2f}"),
    ("failures", _both(lambda totals: str(len(totals.failures)))),
    ("source in chunks, %", _both(lambda t: _percent(t.kept_characters, t.source_characters))),
    (
        "own body in chunks, %",
        lambda r: _percent(r.systems["ours"].covered, r.systems["ours"].body),
    ),
    ("F1 of words", _both(lambda totals: _mean(totals.bag))),
    ("F1 in order", _both(lambda totals: _mean(totals.ordered))),
)
_DIVIDED: tuple[Column, ...] = (
    ("corpus", _name),
    ("chunks", _both(lambda totals: str(totals.chunks))),
    ("numbered sections", _both(lambda totals: str(totals.numbered))),
    ("end inside a sentence, %", _both(lambda totals: _percent(totals.cut, totals.chunks))),
    ("over the window", _both(lambda totals: str(totals.over_window))),
)
_COSTS: tuple[Column, ...] = (
    ("corpus", _name),
    ("seconds a MB", _both(_seconds)),
    ("ours : peer", _ratio),
    ("peak MB above start", _both(lambda totals: f"{totals.peak_bytes / _MB:.0f}")),
    ("child: seconds a MB", _child_seconds),
    ("child: peak MB", _child_peak),
    ("child: peak MB a MB", _child_share),
)
_ARTICLES: tuple[Column, ...] = (
    ("corpus", _name),
    ("articles", lambda row: str(row.systems["ours"].articles)),
    ("missing", _both(lambda totals: str(totals.missing))),
    ("extra", _both(lambda totals: str(totals.extra))),
)


def _failures(rows: Sequence[Corpus]) -> str:
    lines = [
        f"- {row.name}, {system}: {failure}"
        for row in rows
        for system, totals in row.systems.items()
        for failure in totals.failures
    ]
    return "\n".join(lines) or "None."
