"""Where the numbers that a text names stand: sections and clauses found by what they are called.

In a schedule that counts anew `clause 2` is the schedule's own; only what the schedule lacks is
looked for in the document around it, and what several sections are called names none of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from documents.ingestion.numbering import Label, Scheme, parse_label
from documents.ingestion.numerals import HAN_DIGITS, han_value
from documents.records import ClauseRecord, SectionRecord

Parts = tuple[str, ...]
_NAMED_BY_NUMBER = frozenset({Scheme.SECTION, Scheme.ARTICLE, Scheme.PARAGRAPH_SIGN})
_HAN_NUMBER = rf"(?:[{HAN_DIGITS}]{{1,9}}|\d{{1,4}})"
_UNITS = {"项": "項"}
HAN_UNIT = re.compile(
    rf"第\s*(?P<number>{_HAN_NUMBER})\s*(?P<unit>[項项款目])(?:之\s*(?P<suffix>{_HAN_NUMBER})(?!\w*條))?"
)


@dataclass(frozen=True, slots=True)
class Target:
    """The section that is meant, and the clause in it where one is."""

    section: int
    label: str | None = None


class Targets:
    """An index over the sections and clauses of one document."""

    def __init__(self, sections: Sequence[SectionRecord], clauses: Sequence[ClauseRecord]) -> None:
        self.sections = sections
        self.labels = [section_label(section) for section in sections]
        self._starts = [section.start for section in sections]
        self._scopes = self._find_scopes()
        self._named: dict[tuple[Scheme, tuple[int, ...]], list[int]] = defaultdict(list)
        for ordinal, label in enumerate(self.labels):
            if label is not None:
                self._named[label.scheme, label.value].append(ordinal)
        self._clauses = clauses
        self._clause_starts = [clause.start for clause in clauses]
        self._parts = [
            clause_parts(clause.label, sections[clause.section].number or "") for clause in clauses
        ]
        self._around = list(_enclosing(clauses))
        self._by_parts: dict[tuple[int, Parts], ClauseRecord] = {}
        for clause, parts in zip(clauses, self._parts, strict=True):
            self._by_parts.setdefault((clause.section, parts), clause)

    def section_at(self, place: int) -> int:
        """The ordinal of the section that holds an offset."""
        return max(bisect_right(self._starts, place) - 1, 0)

    def ancestors(self, ordinal: int) -> Iterator[int]:
        """A section and those around it, innermost first."""
        current: int | None = ordinal
        while current is not None:
            yield current
            current = self.sections[current].parent

    def find(
        self, scheme: Scheme, value: tuple[int, ...], near: int, word: str | None = None
    ) -> int | None:
        """The section of this number as seen from section `near`, if there is just one."""
        schemes = [scheme]
        if scheme in _NAMED_BY_NUMBER:
            schemes += [Scheme.DECIMAL, Scheme.LETTERED_DECIMAL, *(_NAMED_BY_NUMBER - {scheme})]
        for candidate in schemes:
            found = self._named.get((candidate, value), [])
            if word is not None and len(found) > 1:
                found = [o for o in found if _begins_with(self.sections[o].number, word)] or found
            if found:
                return self._nearest(found, near)
        return None

    def clause(self, section: int, parts: Parts) -> ClauseRecord | None:
        """The clause of a section with these parts of a label, outermost first."""
        return self._by_parts.get((section, parts))

    def clause_around(self, place: int) -> Parts:
        """The parts of the label of the innermost clause that holds an offset."""
        index: int | None = bisect_right(self._clause_starts, place) - 1
        while index is not None and index >= 0:
            if self._clauses[index].end > place:
                return self._parts[index]
            index = self._around[index]
        return ()

    def _nearest(self, found: Sequence[int], near: int) -> int | None:
        scope: int | None = self._scopes[near]
        while True:
            inside = [ordinal for ordinal in found if self._scopes[ordinal] == scope]
            if inside or scope is None:
                break
            parent = self.sections[scope].parent
            scope = self._scopes[parent] if parent is not None else None
        if not inside and len(found) == 1:
            inside = list(found)
        return inside[0] if len(inside) == 1 else None

    def _find_scopes(self) -> list[int | None]:
        """For each section the annex that it is in (or is), None in the main body."""
        scopes: list[int | None] = []
        for section, label in zip(self.sections, self.labels, strict=True):
            outer = scopes[section.parent] if section.parent is not None else None
            is_annex = label is not None and label.scheme is Scheme.ANNEX
            scopes.append(section.ordinal if is_annex else outer)
        return scopes


def section_label(section: SectionRecord) -> Label | None:
    """A section's number read again, for comparing."""
    number = section.number
    if not number:
        return None
    mark = "、" if number[0] in HAN_DIGITS else ". X"
    return parse_label(number) or parse_label(f"{number}{mark}")


def clause_parts(label: str, section_number: str) -> Parts:
    """`("b", "i")` for `4.2(b)(i)` in section 4.2; `("項2", "款1")` in a Chinese article."""
    rest = label.removeprefix(section_number)
    units = han_parts(rest)
    return units or tuple(re.findall(r"[^\W_]+", rest))


def han_parts(text: str) -> Parts:
    """`第二項第一款` as `("項2", "款1")`; 之 numbers follow a dot."""
    return tuple(
        _UNITS.get(match["unit"], match["unit"])
        + str(han_value(match["number"]))
        + (f".{han_value(match['suffix'])}" if match["suffix"] else "")
        for match in HAN_UNIT.finditer(text)
    )


def _enclosing(clauses: Sequence[ClauseRecord]) -> Iterator[int | None]:
    """For each clause, ordered by start, the one around it."""
    stack: list[int] = []
    for index, clause in enumerate(clauses):
        while stack and clauses[stack[-1]].end <= clause.start:
            stack.pop()
        yield stack[-1] if stack else None
        stack.append(index)


def _begins_with(number: str | None, word: str) -> bool:
    return (number or "").casefold().startswith(word.casefold())
