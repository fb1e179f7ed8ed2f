"""A section's text cut into pieces: the cited words, the clauses in it, and what it refers to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from documents.access import ReadableChunk, Reference
from qa.pages.shown import Piece, reflowed
from qa.records import PassagePart
from qa.retrieval.sections import SectionText

_NO_WORD = re.compile(r"[^\w]+")
CITED = "cited"
CITED_AGAIN = "again"  # a later piece of the same words: an id may stand once on a page


@dataclass(frozen=True, slots=True)
class Link:
    """A stretch of the joined text that leads to the clause that it names."""

    start: int
    end: int
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Marks:
    """What to mark in a joined text; all offsets count in it."""

    cited: tuple[int, int] | None
    anchors: dict[int, tuple[str, ...]]
    links: tuple[Link, ...]


def anchor_of(label: str) -> str:
    """What points at a clause in an address: `4(i)(ii)` becomes `c-4-i-ii`."""
    return "c-" + _NO_WORD.sub("-", label).strip("-")


def marks_of(found: SectionText, *, taken: set[str]) -> Marks:
    """What is to be marked in a section.

    Args:
        found: the section with its text.
        taken: anchors that stand on the page already; those of this section are added.
    """
    anchors: dict[int, tuple[str, ...]] = {}
    links = []
    for chunk, part in zip(found.section.chunks, found.parts, strict=True):
        for clause in chunk.clauses:
            name, at = anchor_of(clause.label), _in_text(part, clause.start)
            if name not in taken and part.start <= at < part.end:
                taken.add(name)
                anchors[at] = (*anchors.get(at, ()), name)
        links += [_link(found, part, one) for one in _resolved(chunk)]
    return Marks(found.cited, anchors, tuple(_apart(links)))


def _in_text(part: PassagePart, canonical: int) -> int:
    return part.start + canonical - part.chunk_start


def _resolved(chunk: ReadableChunk) -> Iterable[Reference]:
    return (reference for reference in chunk.references if reference.section is not None)


def _link(found: SectionText, part: PassagePart, reference: Reference) -> Link:
    day = found.section.effective_from.isoformat()
    anchor = f"#{anchor_of(reference.label)}" if reference.label else ""
    return Link(
        start=_in_text(part, reference.start),
        end=min(_in_text(part, reference.end), part.end),
        url=f"/sections/{reference.section}/?as_of={day}{anchor}",
        title=reference.title,
    )


def _apart(links: Iterable[Link]) -> Iterable[Link]:
    """The links in order; one that begins inside another is left out."""
    at = 0
    for link in sorted(links, key=lambda one: (one.start, -one.end)):
        if link.start >= at and link.end > link.start:
            yield link
            at = link.end


def cut(text: str, begin: int, close: int, marks: Marks, *, is_first: bool) -> tuple[Piece, ...]:
    """`text[begin:close]` in pieces; `is_first`: no cited words stand before it on the page."""
    flowing = reflowed(text[begin:close])
    edges = {begin, close, *marks.anchors, *(marks.cited or ())}
    edges |= {edge for link in marks.links for edge in (link.start, link.end)}
    inside = sorted(edge for edge in edges if begin <= edge <= close)
    pieces = []
    for start, end in pairwise(inside):
        is_cited = marks.cited is not None and marks.cited[0] <= start and end <= marks.cited[1]
        quotes = (CITED if is_first else CITED_AGAIN) if is_cited else ""
        is_first = is_first and not is_cited
        link = next((one for one in marks.links if one.start <= start and end <= one.end), None)
        pieces.append(
            Piece(
                flowing[start - begin : end - begin],
                quotes,
                url=link.url if link else "",
                title=link.title if link else "",
                anchors=marks.anchors.get(start, ()),
            )
        )
    return tuple(pieces)
