"""Definitions of lists: how each level counts and prints, and what a list overrides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from documents.ingestion.parsers.docx.markup import (
    Element,
    W,
    child,
    is_on,
    number,
    value,
)
from documents.ingestion.parsers.docx.styles import left_indent

LEVELS = 9
_MAX_TEXT = 255  # characters, as in Word: a marker is printed before each paragraph


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


@dataclass(frozen=True, slots=True)
class Abstract:
    """A definition that lists share, and with it their counters."""

    id: int
    levels: dict[int, Level]
    style_link: str | None
    num_style_link: str | None


@dataclass(frozen=True, slots=True)
class NumberedList:
    """A list: its definition, and the starts and levels that it overrides."""

    abstract_id: int
    starts: dict[int, int] = field(default_factory=dict)
    levels: dict[int, Level] = field(default_factory=dict)


def read_abstract(key: int, element: Element) -> Abstract:
    """A definition of `w:abstractNum`."""
    return Abstract(
        key,
        dict(_read_levels(element)),
        value(child(element, "styleLink")),
        value(child(element, "numStyleLink")),
    )


def read_list(abstract_id: int, element: Element) -> NumberedList:
    """A list of `w:num`, with the definition that it counts by."""
    found = NumberedList(abstract_id)
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
        text=(value(child(element, "lvlText")) or "")[:_MAX_TEXT],
        restart=number(child(element, "lvlRestart")),
        is_legal=is_on(element, "isLgl"),
        suffix=value(child(element, "suff")) or "tab",
        style=value(child(element, "pStyle")),
        left=left_indent(child(element, "pPr")),
        is_hidden=is_on(child(element, "rPr"), "vanish"),
        has_picture=child(element, "lvlPicBulletId") is not None,
    )
