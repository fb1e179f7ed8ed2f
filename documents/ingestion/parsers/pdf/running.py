"""Running heads and feet: lines at the edge of a page that come back on other pages.

A line is one of them only where every line between it and the edge is one too, so that body
text which happens to repeat is never taken. Figures are compared as figures (`Page 3 of 9` is
`Page 4 of 9`), and a place is compared too: the same words elsewhere on the page are text.
So are `Annex 1`, `Annex 2`, `Annex 3` where each annex begins a page of its own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from documents.ingestion.numbering import Label, Scheme, parse_label
from documents.ingestion.parsers.pdf.lines import text_of
from documents.ingestion.parsers.pdf.page import Line

_MAX_LINES = 7  # at each edge
_REACH = 0.22  # of the page's height, from an edge
_NEAR = 4.0  # points that a running line may move
_MARGIN = 0.09  # of the page's height: nobody sets body text there
_FEW_LINES = 2  # that may stand close to the text
_MAX_LENGTH = 250
_MIN_SHARE = 0.4  # of the pages between its first and its last: odd and even pages differ
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"(?<![^\W_])[ivxlcdm]{1,7}(?![^\W_])")
_PAGE_NUMBER = re.compile(
    r"\W*(?:page|pages|pg\.?|p\.|seite|página|página|pagina|side|第|頁次)?\W*"
    r"(?:[a-z]{1,3}\W?)?(?:\d{1,4}|[ivxlc]{1,7})\W*"
    r"(?:(?:of|/|von|de|sur|共|\|)\W*\d{1,4}\W*)?(?:page|頁|页)?\W*",
    re.IGNORECASE,
)
_NO_HEADINGS = frozenset({Scheme.ROMAN, Scheme.LETTER, Scheme.LETTERED_DECIMAL})
_WORDED_NUMBER = re.compile(r"page|seite|頁|页|/|\bof\b|[|–—-]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EdgePage:
    """What is needed of a page: its lines from the top, its height, its label."""

    number: int
    height: float
    lines: Sequence[Line]
    label: str | None = None


def running_lines(pages: Sequence[EdgePage]) -> list[frozenset[int]]:
    """For each page the indexes of its lines that are running heads, feet or page numbers.

    Where nothing else would be left of the whole file, nothing is running.
    """
    found: list[set[int]] = [set() for _ in pages]
    for is_top in (True, False):
        for page, indexes in enumerate(_Edge(pages, is_top=is_top).find()):
            found[page] |= indexes
    if all(len(indexes) == len(page.lines) for indexes, page in zip(found, pages, strict=True)):
        return [frozenset() for _ in pages]
    return [frozenset(indexes) for indexes in found]


@dataclass(frozen=True, slots=True)
class _Candidate:
    page: int  # index into the pages
    line: int
    key: str
    offset: float  # of the base line from the edge
    size: float
    figures: tuple[int, ...] = ()
    label: Label | None = None  # of a heading, if it reads like one


class _Edge:
    """The lines at one edge, top or bottom, of all pages."""

    def __init__(self, pages: Sequence[EdgePage], *, is_top: bool) -> None:
        self._pages = pages
        self._is_top = is_top
        self._candidates = [self._of_page(index, page) for index, page in enumerate(pages)]
        self._by_key: dict[str, list[_Candidate]] = defaultdict(list)
        for candidates in self._candidates:
            for candidate in candidates:
                self._by_key[candidate.key].append(candidate)
        self._slots = self._confirmed_slots()
        self._numbered = self._page_numbers()

    def find(self) -> list[set[int]]:
        return [self._outer(candidates) for candidates in self._candidates]

    def _of_page(self, index: int, page: EdgePage) -> list[_Candidate]:
        numbered = list(enumerate(page.lines))
        candidates: list[_Candidate] = []
        for line_index, line in numbered if self._is_top else reversed(numbered):
            offset = line.box[1] if self._is_top else page.height - line.box[3]
            if len(candidates) == _MAX_LINES or line.table is not None:
                break
            text = text_of(line)
            is_number = not candidates and _PAGE_NUMBER.fullmatch(text) is not None
            if len(text) > _MAX_LENGTH or (offset > _REACH * page.height and not is_number):
                break
            base = line.baseline if self._is_top else page.height - line.baseline
            figures = tuple(int(digits) for digits in _DIGITS.findall(text[:_MAX_LENGTH]))
            candidates.append(
                _Candidate(
                    index, line_index, _key(text), base, line.size, figures, _heading_label(text)
                )
            )
        return candidates

    def _outer(self, candidates: list[_Candidate]) -> set[int]:
        """The candidates that are running, from the edge to the first that is not."""
        taken: list[_Candidate] = []
        for candidate in candidates:
            if not self._is_running(candidate):
                break
            taken.append(candidate)
        if len(taken) == len(self._pages[candidates[0].page].lines if candidates else ()):
            # A page that holds nothing else: what stands below the margin is its text.
            taken = [one for one in taken if one.offset <= _MARGIN * self._height(one)]
        if len(taken) > _FEW_LINES and not self._is_apart(taken[-1]):
            taken = [one for one in taken if (one.page, one.line) in self._numbered]
        return {candidate.line for candidate in taken}

    def _height(self, candidate: _Candidate) -> float:
        return self._pages[candidate.page].height

    def _is_apart(self, candidate: _Candidate) -> bool:
        """Whether a gap or another size parts a line from the text of its page.

        Pages that begin alike (forms, copies of a page) have no such border.
        """
        page = self._pages[candidate.page]
        inner = candidate.line + (1 if self._is_top else -1)
        if not 0 <= inner < len(page.lines):
            return False
        gap = abs(page.lines[inner].baseline - page.lines[candidate.line].baseline)
        return gap > 1.6 * candidate.size or abs(page.lines[inner].size - candidate.size) > 0.4

    def _is_running(self, candidate: _Candidate) -> bool:
        if self._is_heading(candidate):
            return False
        if (candidate.page, candidate.line) in self._numbered:
            return True
        alike = self._alike(candidate)
        if self._repeats(alike):
            return True
        in_slot = self._slot(candidate) in self._slots
        if in_slot and (len(alike) >= 2 or self._is_marked(candidate)):
            return True
        if self._is_marked(candidate) and len(alike) >= 2:
            return True
        return len(self._pages) == 2 and len(alike) == 2 and self._stands_apart(candidate)

    def _is_heading(self, candidate: _Candidate) -> bool:
        """Whether lines like this one count on, each on its page: a running head stays a while."""
        if candidate.label is None or self._is_marked(candidate):
            return False
        labels = [other.label.value for other in self._alike(candidate) if other.label]
        return len(set(labels)) == len(labels)

    def _alike(self, candidate: _Candidate) -> list[_Candidate]:
        return [
            other
            for other in self._by_key[candidate.key]
            if abs(other.offset - candidate.offset) <= _NEAR and _count_alike(candidate, other)
        ]

    def _repeats(self, alike: list[_Candidate]) -> bool:
        pages = sorted({candidate.page for candidate in alike})
        return len(pages) >= 3 and len(pages) >= _MIN_SHARE * (pages[-1] - pages[0] + 1)

    def _confirmed_slots(self) -> set[tuple[int, float]]:
        """Places where most pages have a running line; chapter titles change there."""
        confirmed: Counter[tuple[int, float]] = Counter()
        for candidates in self._by_key.values():
            alike = self._alike(candidates[0])
            if self._repeats(alike) or (len(alike) == 2 and self._stands_apart(candidates[0])):
                confirmed[self._slot(candidates[0])] += len(alike)
        least = max(3.0, 0.3 * len(self._pages))
        return {slot for slot, count in confirmed.items() if count >= least}

    def _slot(self, candidate: _Candidate) -> tuple[int, float]:
        return round(candidate.offset / _NEAR), round(candidate.size, 1)

    def _is_marked(self, candidate: _Candidate) -> bool:
        """Whether the file itself calls the line an artifact."""
        words = self._pages[candidate.page].lines[candidate.line].words
        return bool(words) and all(word.tag == "Artifact" for word in words)

    def _stands_apart(self, candidate: _Candidate) -> bool:
        page = self._pages[candidate.page]
        step = 1 if self._is_top else -1
        inner = candidate.line + step
        if not 0 <= inner < len(page.lines) or candidate.offset > 0.1 * page.height:
            return False
        gap = abs(page.lines[inner].baseline - page.lines[candidate.line].baseline)
        return gap > 2.2 * candidate.size

    def _page_numbers(self) -> set[tuple[int, int]]:
        """Lines that hold nothing but the number of their page."""
        found = set()
        for shift, candidates in self._numbers_by_shift().items():
            count = len({candidate.page for candidate in candidates})
            is_sure = count >= 2 or shift == 0
            for candidate in candidates:
                text = text_of(self._pages[candidate.page].lines[candidate.line])
                is_worded = _WORDED_NUMBER.search(text) is not None
                at_edge = candidate.offset <= 0.1 * self._pages[candidate.page].height
                if (at_edge and (is_sure or is_worded)) or count >= 3:
                    found.add((candidate.page, candidate.line))
        return found

    def _numbers_by_shift(self) -> dict[int, list[_Candidate]]:
        shifts: dict[int, list[_Candidate]] = defaultdict(list)
        for candidates in self._candidates:
            for candidate in candidates[:3]:
                page = self._pages[candidate.page]
                text = text_of(page.lines[candidate.line])
                if _PAGE_NUMBER.fullmatch(text):
                    value = _number(text, page.label)
                    if value is not None:
                        shifts[value - page.number].append(candidate)
        return shifts


def _count_alike(one: _Candidate, other: _Candidate) -> bool:
    """Whether figures stay, or grow with the pages as numbers of pages and chapters do."""
    steps = other.page - one.page
    pairs = zip(one.figures, other.figures, strict=False)
    return all(min(steps, 0) <= after - before <= max(steps, 0) for before, after in pairs)


def _heading_label(text: str) -> Label | None:
    """The label that a line opens with, where no page number looks like it."""
    label = parse_label(text[:_MAX_LENGTH])
    if label is None or label.scheme in _NO_HEADINGS:
        return None
    if label.scheme is Scheme.DECIMAL:
        is_clear = label.delimiter == "." or len(label.value) > 1
        has_words = text[label.rest_start :][:1].isalpha()
        return label if is_clear and has_words else None
    return label


def _key(text: str) -> str:
    folded = _DIGITS.sub("#", text.casefold())
    return "".join(_ROMAN.sub("#", folded).split())


def _number(text: str, label: str | None) -> int | None:
    digits = _DIGITS.search(text)
    if digits:
        return int(digits.group())
    roman = _ROMAN.search(text.casefold())
    return _roman_value(roman.group()) if roman else None


def _roman_value(numeral: str) -> int:
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
    total = 0
    for sign, following in zip(numeral, [*numeral[1:], ""], strict=False):
        step = values[sign]
        total += -step if following and values[following] > step else step
    return total
