"""Automatic numbers, computed as Word prints them (ECMA-376 part 1, 17.9).

Lists that share a definition share its counters. A paragraph counts one up at its own level and
sets the levels below back, unless they say when to restart; a start that a list overrides holds
once, where the list first uses that level. A level above that no paragraph has used yet shows
its start value, and counts as used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from documents.ingestion.parsers.docx.markup import (
    Element,
    W,
    child,
    is_on,
    number,
    value,
)
from documents.ingestion.parsers.docx.number_formats import format_number
from documents.ingestion.parsers.docx.styles import Style, Styles, left_indent

LEVELS = 9
_PLACEHOLDER = re.compile("%([1-9])")


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list counts and prints."""

    start: int = 1
    kind: str = "decimal"
    custom: str | None = None
    text: str = ""
    restart: int | None = None  # the level, from 1, that sets this one back; 0: none does
    is_legal: bool = False  # prints all its numbers as digits
    suffix: str = "tab"
    style: str | None = None
    left: int | None = None
    is_hidden: bool = False
    has_picture: bool = False


@dataclass(slots=True)
class _Abstract:
    id: int
    levels: dict[int, Level]
    style_link: str | None
    num_style_link: str | None
    counters: list[int | None] = field(default_factory=lambda: [None] * LEVELS)
    # Levels that a paragraph has used, not only passed over.
    is_real: list[bool] = field(default_factory=lambda: [False] * LEVELS)


@dataclass(slots=True)
class _List:
    abstract_id: int
    starts: dict[int, int] = field(default_factory=dict)
    levels: dict[int, Level] = field(default_factory=dict)


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


class Numbering:
    """The lists of a document; `story` gives counters that start anew for a text apart."""

    def __init__(self, root: Element | None, styles: Styles) -> None:
        self._abstracts: dict[int, _Abstract] = {}
        self._lists: dict[int, _List] = {}
        self._by_style: dict[str, int] = {}
        self._styles = styles
        if root is not None:
            self._read(root)
        self._used: set[tuple[int, int]] = set()

    def _read(self, root: Element) -> None:
        for element in root.iterfind(W + "abstractNum"):
            key = number(element, "abstractNumId")
            if key is not None:
                self._abstracts[key] = _abstract(key, element)
        for element in root.iterfind(W + "num"):
            key, abstract_id = number(element, "numId"), number(child(element, "abstractNumId"))
            if key is not None and abstract_id is not None:
                self._lists[key] = _list(abstract_id, element)
        for abstract in self._abstracts.values():
            if abstract.style_link:
                self._by_style[abstract.style_link] = abstract.id

    def story(self) -> Numbering:
        """The same lists, uncounted: text boxes and notes count for themselves."""
        copy = Numbering(None, self._styles)
        copy._lists, copy._by_style = self._lists, self._by_style
        copy._abstracts = {
            key: replace(abstract, counters=[None] * LEVELS, is_real=[False] * LEVELS)
            for key, abstract in self._abstracts.items()
        }
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
        own, lowest = tidy_label(text), _lowest(level.text)
        above = self._full(abstract, place.num_id, lowest - 1) if lowest else None
        return Marker(
            text=text,
            suffix=level.suffix,
            own=own,
            above=above,
            full=join_labels(above, own) or None,
            key=abstract.id,
            level=place.level,
            left=level.left,
            is_own=place.level > 0 and lowest == 0 and bool(own),
        )

    def _bullet(self, abstract: _Abstract, place: Place, level: Level) -> Marker:
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

    def _resolved(self, num_id: int) -> _Abstract | None:
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

    def _step(self, abstract: _Abstract, place: Place) -> None:
        counters = abstract.counters
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
        abstract.is_real[place.level] = True
        for below in range(place.level + 1, LEVELS):
            definition = self._level(place.num_id, below)
            restart = definition.restart if definition else None
            if restart is None or restart > below or place.level < restart:
                counters[below] = None
                abstract.is_real[below] = False

    def _printed(self, abstract: _Abstract, num_id: int, level: int) -> str:
        own = self._level(num_id, level) or Level()

        def counter(match: re.Match[str]) -> str:
            index = int(match[1]) - 1
            if index > level:
                return ""
            definition = self._level(num_id, index) or Level()
            count = abstract.counters[index]
            kind = definition.kind
            if own.is_legal and kind not in ("none", "bullet", "decimalZero"):
                kind = "decimal"
            return format_number(
                definition.start if count is None else count, kind, definition.custom
            )

        return _PLACEHOLDER.sub(counter, own.text)

    def _full(self, abstract: _Abstract, num_id: int, level: int) -> str | None:
        """The printed label, preceded by those of the levels that it does not name itself."""
        definition = self._level(num_id, level)
        is_silent = definition is None or definition.kind == "bullet"
        if definition is None or is_silent or not abstract.is_real[level]:
            return self._full(abstract, num_id, level - 1) if level else None
        printed = tidy_label(self._printed(abstract, num_id, level))
        above = _lowest(definition.text)
        before = self._full(abstract, num_id, above - 1) if above else None
        return join_labels(before, printed) or None


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


def _abstract(key: int, element: Element) -> _Abstract:
    return _Abstract(
        key,
        dict(_read_levels(element)),
        value(child(element, "styleLink")),
        value(child(element, "numStyleLink")),
    )


def _list(abstract_id: int, element: Element) -> _List:
    found = _List(abstract_id)
    for override in element.iterfind(W + "lvlOverride"):
        index = number(override, "ilvl")
        if index is None or not 0 <= index < LEVELS:
            continue
        start = number(child(override, "startOverride"))
        if start is not None:
            found.starts[index] = start
        for _, level in _read_levels(override):
            found.levels[index] = level
    return found


def _read_levels(element: Element) -> Iterator[tuple[int, Level]]:
    for found in element.iterfind(W + "lvl"):
        index = number(found, "ilvl")
        if index is not None and 0 <= index < LEVELS:
            yield index, _read_level(found)


def _read_level(element: Element) -> Level:
    formats = element.find(W + "numFmt")
    start = number(child(element, "start"))
    return Level(
        # A level that says no start begins at 0 (17.9.25).
        start=0 if start is None else start,
        kind=value(formats) or "decimal",
        custom=value(formats, "format"),
        text=value(child(element, "lvlText")) or "",
        restart=number(child(element, "lvlRestart")),
        is_legal=is_on(element, "isLgl"),
        suffix=value(child(element, "suff")) or "tab",
        style=value(child(element, "pStyle")),
        left=left_indent(child(element, "pPr")),
        is_hidden=is_on(child(element, "rPr"), "vanish"),
        has_picture=child(element, "lvlPicBulletId") is not None,
    )
