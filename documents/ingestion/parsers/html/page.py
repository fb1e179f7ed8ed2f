"""What the walk over a page keeps: the page's facts, the open block, the next block's marker."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from documents.ingestion.parsers.html.looks import Looks
from documents.ingestion.parsers.html.notes import Notes
from documents.ingestion.parsers.html.tree import Element
from documents.ingestion.parsers.writer import TextWriter
from documents.records import BlockKind

COLLAPSED = re.compile(r"[ \t\n\r\f\u00a0]+")


@dataclass(slots=True)
class Page:
    """What every walk over one page needs."""

    looks: Looks
    notes: Notes
    writer: TextWriter
    left_out: Collection[Element] = ()
    keeps_scripts: bool = False  # as hidden text
    has_struck: bool = False
    has_hidden: bool = False  # by its style: a page without script is no secret
    told: set[Element] = field(default_factory=set)  # notes that are written

    def hide(self, text: str, where: str) -> None:
        """Keep text apart that a person does not see."""
        if where == "silent" and self.keeps_scripts:
            where = "hidden"
        if where != "silent":
            self.writer.hide(COLLAPSED.sub(" ", text), where)


@dataclass(slots=True)
class OpenBlock:
    """The block that text flows into."""

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int | None = None
    is_tight: bool = True  # in a list: the text stands in the item itself
    pieces: list[str] = field(default_factory=list)
    plain: int = 0  # characters that are not bold
    bold: int = 0


@dataclass(slots=True)
class Marker:
    """What is printed before the next block."""

    text: str = ""
    number: str | None = None
    is_item: bool = False
    terms: list[str] = field(default_factory=list)

    @property
    def prefix(self) -> str:
        """The marker and the terms, with the blank after them."""
        terms = f"{', '.join(self.terms).rstrip(':： ')}: " if self.terms else ""
        return f"{self.text} {terms}" if self.text else terms
