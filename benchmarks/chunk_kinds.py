"""Measure the kinds of clauses on labelled samples, beside the rule of a reference system.

`chunk_kinds.jsonl` holds no text, only where each sample stands in the shared corpora (file,
passage id, character span), the beginning of its SHA-256 and the kind that a person gave it.
`tuned` and `reviewed` samples were read, with their misses, while the grammar was written;
`held_out` ones were labelled before they were classified, and their misses were not read.

    python -m benchmarks.chunk_kinds SHARED_DATA [--errors SET]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from documents.ingestion.kinds import classify
from documents.records import ChunkKind

LABELS = Path(__file__).with_name("chunk_kinds.jsonl")
_RESAMPLES = 10_000
Classifier = Callable[[str], ChunkKind]


@dataclass(frozen=True, slots=True)
class Sample:
    """One labelled passage."""

    set_name: str
    language: str
    text: str
    kind: ChunkKind


def main() -> None:
    """Print one report a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path, help="the folder of the shared corpora")
    parser.add_argument("--errors", metavar="SET", help="show the misses of this set")
    arguments = parser.parse_args()
    samples = list(read_samples(arguments.shared))
    for set_name in dict.fromkeys(sample.set_name for sample in samples):
        _report(set_name, [sample for sample in samples if sample.set_name == set_name])
    for sample in samples:
        if sample.set_name == arguments.errors and classify(sample.text) is not sample.kind:
            print(f"[{sample.kind} -> {classify(sample.text)}] {sample.text}\n")


def read_samples(shared: Path) -> Iterator[Sample]:
    """The samples with their texts.

    Raises:
        ValueError: a text is no longer the one that was labelled.
    """
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = _text(shared / row["file"], row.get("passage"))[row.get("start") : row.get("end")]
        if hashlib.sha256(text.encode()).hexdigest()[:16] != row["sha256"]:
            raise ValueError(f"{row['file']} has changed since it was labelled")
        yield Sample(row["set"], row["language"], text, ChunkKind(row["kind"]))


@cache
def _text(path: Path, passage: str | None) -> str:
    return path.read_text(encoding="utf-8") if passage is None else _passages(path)[passage]


@cache
def _passages(path: Path) -> dict[str, str]:
    """Texts by the id that the corpus gives them; for statutes `code:article`."""
    texts: dict[str, str] = {}
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            key = row.get("id") or row.get("context_id") or f"{row['pcode']}:{row['article']}"
            texts[key] = row["text"]
    return texts


def reference_kind(text: str) -> ChunkKind:
    """The rule of the reference system, English only, as its inputs A19 to A21 show it."""
    if re.search(r"\bmeans\b|refers to", text):
        return ChunkKind.DEFINITION
    if re.search("shall|must", text, re.IGNORECASE):
        return ChunkKind.OBLIGATION
    if re.search(r"\brights?\b|entitled", text, re.IGNORECASE):
        return ChunkKind.RIGHT
    return ChunkKind.GENERAL


def _report(set_name: str, samples: Sequence[Sample]) -> None:
    print(f"## {set_name}: {len(samples)} samples\n")
    for name, classifier in (("ours", classify), ("reference rule", reference_kind)):
        for language in ("en", "zh", None):
            hits = [
                classifier(sample.text) is sample.kind
                for sample in samples
                if language in (None, sample.language)
            ]
            low, high = bootstrap(hits)
            print(
                f"{name}, {language or 'all'}: accuracy {sum(hits) / len(hits):.2f} "
                f"[{low:.2f}, {high:.2f}] of {len(hits)}"
            )
    print(f"\n{_per_kind(samples)}\n\n{_confusion(samples)}\n")


def bootstrap(hits: Sequence[bool]) -> tuple[float, float]:
    """The 95 % percentile interval of the share of hits, over resamples with a fixed seed."""
    rng = random.Random(1)  # noqa: S311 - resampling, not secrecy
    shares = sorted(sum(rng.choices(hits, k=len(hits))) / len(hits) for _ in range(_RESAMPLES))
    return shares[int(0.025 * _RESAMPLES)], shares[int(0.975 * _RESAMPLES)]


def _per_kind(samples: Sequence[Sample]) -> str:
    lines = [
        "| kind | samples | precision | recall | reference precision | reference recall |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind in ChunkKind:
        figures = [
            figure
            for classifier in (classify, reference_kind)
            for figure in _precision_recall(samples, kind, classifier)
        ]
        count = sum(sample.kind is kind for sample in samples)
        lines.append(f"| {kind} | {count} | {' | '.join(figures)} |")
    return "\n".join(lines)


def _precision_recall(
    samples: Sequence[Sample], kind: ChunkKind, classifier: Classifier
) -> tuple[str, str]:
    given = [sample for sample in samples if classifier(sample.text) is kind]
    right = sum(sample.kind is kind for sample in given)
    wanted = sum(sample.kind is kind for sample in samples)
    return _share(right, len(given)), _share(right, wanted)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def _confusion(samples: Sequence[Sample]) -> str:
    counts = Counter((sample.kind, classify(sample.text)) for sample in samples)
    lines = [
        f"| labelled \\ ours | {' | '.join(ChunkKind)} |",
        "| --- |" + " --- |" * len(ChunkKind),
    ]
    lines += [
        f"| {row} | {' | '.join(str(counts[row, column]) for column in ChunkKind)} |"
        for row in ChunkKind
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
