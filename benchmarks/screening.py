"""Measure screening: what is held, what is held wrongly, and what it costs.

Run from the checkout: `python -m benchmarks.screening SHARED_DATA` prints the table of
docs/explanation/screening.md. Costs are processor seconds, so a busy machine changes little.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from documents.errors import ParseError
from documents.ingestion.chunk import build_chunks
from documents.ingestion.parsers import parse
from documents.ingestion.screen import screen_document, screen_text
from documents.ingestion.structure import build_sections
from documents.records import FindingRecord, Severity


def main(shared: Path) -> None:
    """Print one line a measurement."""
    screen_text("warm up: compile the rules")
    _texts(shared / "security" / "injections.jsonl", "attacks written for the purpose")
    _texts(shared / "security" / "benign.jsonl", "ordinary texts that resemble them")
    _texts(shared / "injection" / "policy_hard_negatives.jsonl", "policy paragraphs, hard")
    _prompts(shared / "injection" / "prompts.jsonl")
    _handbooks(shared / "policy-handbooks")


def _texts(path: Path, name: str) -> None:
    rows = list(_rows(path))
    held = sum(_is_held(screen_text(row["text"])) for row in rows)
    print(f"{name}: held {held} of {len(rows)}")


def _prompts(path: Path, sample: int = 150) -> None:
    groups: dict[tuple[str, str], list[str]] = {}
    for row in _rows(path):
        groups.setdefault((row["label"], row["family"]), []).append(row["text"])
    for (label, family), texts in sorted(groups.items()):
        chosen = random.Random(1).sample(texts, min(sample, len(texts)))  # noqa: S311 - a sample
        held = sum(_is_held(screen_text(text)) for text in chosen)
        print(f"{label}, {family}: held {held} of {len(chosen)}")


def _handbooks(folder: Path) -> None:
    counts: Counter[str] = Counter()
    seconds = 0.0
    for path in sorted(folder.rglob("*.md")):
        try:
            parsed = parse(path.read_bytes(), file_name=path.name)
        except ParseError:
            continue
        sections = build_sections(parsed, fallback_title=path.stem)
        chunks = build_chunks(parsed, sections, count_tokens=lambda text: len(text) // 4)
        start = time.process_time()
        found = screen_document(parsed, sections, chunks, path.stem, path.name)
        seconds += time.process_time() - start
        held = {n for f in found if f.severity is Severity.BLOCK for n in f.chunks}
        counts["files"] += 1
        counts["characters"] += len(parsed.text)
        counts["chunks"] += len(chunks)
        counts["chunks held"] += len(held)
        counts["versions held"] += any(f.severity is Severity.BLOCK and not f.chunks for f in found)
        for finding in found:
            print(
                f"  {path.relative_to(folder)}: {finding.rule} {finding.severity.value} "
                f"{finding.where} {finding.text[:80]!r}"
            )
    print(dict(counts))
    print(f"processor seconds a million characters: {seconds / counts['characters'] * 1e6:.1f}")


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:  # splitlines() would cut at U+2028 too
        yield from map(json.loads, lines)


def _is_held(findings: Iterable[FindingRecord]) -> bool:
    return any(finding.severity is Severity.BLOCK for finding in findings)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
