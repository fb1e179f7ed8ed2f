"""Numbers that are missing from a numbering that is otherwise complete.

A missing number may be a clause that was lost on the way, or one that the source repealed
without a trace; either way its owner should look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from documents.ingestion.numbering import Scheme
from documents.ingestion.targets import section_label
from documents.records import Notice, SectionRecord

_MIN_NUMBERS = 4
_MAX_MISSING_SHARE = 0.25
_MAX_MISSING = 8
# Articles count through a whole statute, whatever chapters lie between.
_THROUGHOUT = frozenset({Scheme.ARTICLE, Scheme.HAN_ARTICLE, Scheme.PARAGRAPH_SIGN})
Key = tuple[int | None, Scheme, tuple[int, ...]]


def gap_notices(sections: Sequence[SectionRecord]) -> tuple[Notice, ...]:
    """A notice for each run of numbers that leaves a few of them out."""
    return tuple(
        Notice("numbering_gap", _message(sections[first], missing))
        for first, missing in _gaps(sections)
    )


def _gaps(sections: Sequence[SectionRecord]) -> Iterator[tuple[int, list[int]]]:
    for numbers in _runs(sections).values():
        values = [value for value, _ in numbers]
        present = set(values)
        if len(present) < _MIN_NUMBERS:
            continue
        missing = [value for value in range(min(values), max(values)) if value not in present]
        limit = min(_MAX_MISSING, _MAX_MISSING_SHARE * len(present))
        if missing and len(missing) <= limit:
            after = max(ordinal for value, ordinal in numbers if value < missing[0])
            yield after, missing


def _runs(sections: Sequence[SectionRecord]) -> dict[Key, list[tuple[int, int]]]:
    """The last numbers of the sections that count together, with their ordinals."""
    runs: dict[Key, list[tuple[int, int]]] = defaultdict(list)
    annexes: list[int | None] = []
    for section in sections:
        label = section_label(section)
        outer = annexes[section.parent] if section.parent is not None else None
        is_annex = label is not None and label.scheme is Scheme.ANNEX
        annexes.append(section.ordinal if is_annex else outer)
        if label is None or is_annex:
            continue
        if label.scheme in _THROUGHOUT:
            runs[outer, label.scheme, ()].append((label.value[0], section.ordinal))
        elif label.number[-1].isdigit() or label.scheme is not Scheme.DECIMAL:
            parent = outer if label.scheme is Scheme.DECIMAL else section.parent
            key = (parent, label.scheme, label.value[:-1])
            runs[key].append((label.value[-1], section.ordinal))
    return runs


def _message(before: SectionRecord, missing: Sequence[int]) -> str:
    stem = (before.number or "").rstrip("0123456789")
    is_decimal = (before.number or "").replace(".", "").isdigit()
    shown = ", ".join(f"{stem}{value}" if is_decimal else str(value) for value in missing)
    noun = "number" if len(missing) == 1 else "numbers"
    return (
        f"The numbering leaves out {noun} {shown}, after {before.number}. Check in the file "
        "whether a clause is missing there."
    )
