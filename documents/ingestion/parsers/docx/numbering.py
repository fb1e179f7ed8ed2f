"""Automatic numbers, computed as Word prints them (ECMA-376 part 1, 17.9).

Lists that share a definition share its counters. A paragraph counts one up at its own level and
sets the levels below back, unless they say when to restart; a start that a list overrides holds
once, where the list first uses that level. A level above that no paragraph has used yet shows
its start value, and counts as used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from documents.ingestion.parsers.docx.levels import (
    LEVELS,
    Abstract,
    Level,
    NumberedList,
    read_abstract,
    read_list,
)
from documents.ingestion.parsers.docx.markup import Element, W, child, number
from documents.ingestion.parsers.docx.number_formats import format_number
from documents.ingestion.parsers.docx.styles import Style, Styles

_PLACEHOLDER = re.compile("%([1-9])")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a paragraph stands in a list."""

    num_id: int
    level: int


@dataclass(frozen=True, slots=True)
class Marker:
    """What is printed before a paragraph.

    `own` is the label without what sets it apart, `above` what stands before it in `full`, the
    label with those of the levels above it: `(i)`, `1.2(b)`, `1.2(b)(i)`. A bullet has a `text`
    and neither `own` nor `full`.
    """

    text: str
    suffix: str
    own: str
    above: str | None
    full: str | None
    key: int  # of the definition: markers with one key are counted together
    level: int
    left: int | None
    is_own: bool  # the printed text names all levels above it, as `1.2` does


@dataclass(slots=True)
class _Counts:
    counters: list[int | None] = field(default_factory=lambda: [None] * LEVELS)
    # Levels that a paragraph has used, not only passed over.
    is_real: list[bool] = field(default_factory=lambda: [False] * LEVELS)


class Numbering:
    """The lists of a document; `story` gives counters that start anew for a text apart."""

    def __init__(self, root: Element | None, styles: Styles) -> None:
        self._abstracts: dict[int, Abstract] = {}
        self._lists: dict[int, NumberedList] = {}
        self._by_style: dict[str, int] = {}
        self._styles = styles
        self._counts: dict[int, _Counts] = {}
        self._used: set[tuple[int, int]] = set()
        if root is not None:
            self._read(root)

    def _read(self, root: Element) -> None:
        for element in root.iterfind(W + "abstractNum"):
            key = number(element, "abstractNumId")
            if key is not None:
                self._abstracts[key] = read_abstract(key, element)
        for element in root.iterfind(W + "num"):
            key, abstract_id = number(element, "numId"), number(child(element, "abstractNumId"))
            if key is not None and abstract_id is not None:
                self._lists[key] = read_list(abstract_id, element)
        for abstract in self._abstracts.values():
            if abstract.style_link:
                self._by_style[abstract.style_link] = abstract.id

    def story(self) -> Numbering:
        """The same lists, uncounted: text boxes and notes count for themselves."""
        copy = Numbering(None, self._styles)
        copy._abstracts, copy._lists, copy._by_style = self._abstracts, self._lists, self._by_style
        return copy

    def place(self, properties: Element | None, style: Style) -> Place | None:
        """The list and level of a paragraph, by its own properties and its style's."""
        direct = child(properties, "numPr")
        num_id = number(child(direct, "numId"))
        num_id = style.num_id if num_id is None else num_id
        if not num_id or num_id not in self._lists:
            return None
        level = number(child(direct, "ilvl"))
        if level is None:
            level = self._level_of_style(num_id, style)
        return Place(num_id, min(max(level, 0), LEVELS - 1))

    def _level_of_style(self, num_id: int, style: Style) -> int:
        levels = {**self._levels(num_id), **self._lists[num_id].levels}
        for index, level in levels.items():
            if level.style is not None and level.style == style.id:
                return index
        return style.num_level or 0

    def count(self, place: Place) -> Marker | None:
        """Count a paragraph and return its marker; None where its level prints nothing."""
        abstract = self._resolved(place.num_id)
        if abstract is None:
            return None
        self._step(abstract, place)
        level = self._level(place.num_id, place.level)
        if level is None:
            return None
        if level.kind == "bullet" or level.has_picture:
            return self._bullet(abstract, place, level)
        text = self._printed(abstract, place.num_id, place.level).strip()
        if level.is_hidden or not text:
            return None
        own = tidy_label(text)
        above = self._above(abstract, place.num_id, place.level, level)
        return Marker(
            text=text,
            suffix=level.suffix,
            own=own,
            above=above,
            full=join_labels(above, own) or None,
            key=abstract.id,
            level=place.level,
            left=level.left,
            is_own=place.level > 0 and _lowest(level.text) == 0 and bool(own),
        )

    def _bullet(self, abstract: Abstract, place: Place, level: Level) -> Marker:
        is_word = sum(char.isalpha() for char in level.text) > 1
        text = level.text.strip() if is_word else "-"
        return Marker(
            text=text,
            suffix="space",
            own="",
            above=None,
            full=None,
            key=abstract.id,
            level=place.level,
            left=level.left,
            is_own=False,
        )

    def _counts_of(self, abstract: Abstract) -> _Counts:
        return self._counts.setdefault(abstract.id, _Counts())

    def _resolved(self, num_id: int) -> Abstract | None:
        """The definition of a list, through the list style that it may point to."""
        abstract = self._abstracts.get(self._lists[num_id].abstract_id)
        for _ in range(5):
            if abstract is None or abstract.num_style_link is None or abstract.levels:
                break
            link = abstract.num_style_link
            linked = self._by_style.get(link)
            if linked is None:
                list_id = self._styles.get(link).num_id
                linked = self._lists[list_id].abstract_id if list_id in self._lists else None
            if linked is None or linked == abstract.id:
                break
            abstract = self._abstracts.get(linked)
        return abstract

    def _levels(self, num_id: int) -> dict[int, Level]:
        abstract = self._resolved(num_id)
        return abstract.levels if abstract else {}

    def _level(self, num_id: int, level: int) -> Level | None:
        return self._lists[num_id].levels.get(level) or self._levels(num_id).get(level)

    def _start(self, num_id: int, level: int) -> int:
        definition = self._level(num_id, level)
        return self._lists[num_id].starts.get(level, definition.start if definition else 1)

    def _step(self, abstract: Abstract, place: Place) -> None:
        counts = self._counts_of(abstract)
        counters = counts.counters
        for above in range(place.level):
            if counters[above] is None:
                counters[above] = self._start(place.num_id, above)
        use = (place.num_id, place.level)
        current = counters[place.level]
        is_override = place.level in self._lists[place.num_id].starts and use not in self._used
        if current is None or is_override:
            counters[place.level] = self._start(place.num_id, place.level)
        else:
            counters[place.level] = current + 1
        self._used.add(use)
        counts.is_real[place.level] = True
        for below in range(place.level + 1, LEVELS):
            definition = self._level(place.num_id, below)
            restart = definition.restart if definition else None
            if restart is None or restart > below or place.level < restart:
                counters[below] = None
                counts.is_real[below] = False

    def _printed(self, abstract: Abstract, num_id: int, level: int) -> str:
        own = self._level(num_id, level) or Level()
        counters = self._counts_of(abstract).counters

        def counter(match: re.Match[str]) -> str:
            index = int(match[1]) - 1
            if index > level:
                return ""
            definition = self._level(num_id, index) or Level()
            count = counters[index]
            kind = definition.kind
            if own.is_legal and kind not in ("none", "bullet", "decimalZero"):
                kind = "decimal"
            return format_number(
                definition.start if count is None else count, kind, definition.custom
            )

        return _PLACEHOLDER.sub(counter, own.text)

    def _full(self, abstract: Abstract, num_id: int, level: int) -> str | None:
        """The printed label, preceded by those of the levels that it does not name itself."""
        definition = self._level(num_id, level)
        is_silent = definition is None or definition.kind == "bullet"
        if definition is None or is_silent or not self._counts_of(abstract).is_real[level]:
            return self._full(abstract, num_id, level - 1) if level else None
        printed = tidy_label(self._printed(abstract, num_id, level))
        before = self._above(abstract, num_id, level, definition)
        return join_labels(before, printed) or None

    def _above(self, abstract: Abstract, num_id: int, level: int, definition: Level) -> str | None:
        """The label of the levels that a level's text does not name, and that set it back.

        Articles that run on through all chapters are cited without their chapter.
        """
        above = _lowest(definition.text)
        if definition.restart is not None and definition.restart <= level:
            above = min(above, definition.restart)
        return self._full(abstract, num_id, above - 1) if above else None


def tidy_label(printed: str) -> str:
    """A label without what only sets it apart: `1.` is `1`, `a)` is `(a)`, `(i).` is `(i)`."""
    text = printed.strip().strip("\u200b").rstrip(".:、．,;- \t").strip()
    if text.endswith((")", "）")) and not any(mark in text for mark in "(（"):
        head, _, last = text[:-1].rpartition(".")
        text = f"{head}({last})" if head else f"({last})"
    return text


def join_labels(before: str | None, label: str) -> str:
    """`1.2` and `(a)` make `1.2(a)`; `1` and `a` make `1.a`."""
    if not before or not label:
        return label or before or ""
    glues = not label[0].isalnum() or not label[0].isascii() or not before[-1].isascii()
    return f"{before}{label}" if glues else f"{before}.{label}"


def _lowest(text: str) -> int:
    """The lowest level, from 0, that a level's text names."""
    return min((int(index) - 1 for index in _PLACEHOLDER.findall(text)), default=0)
