"""Footnotes of a page: marks that cite, and the notes they cite.

A mark is a short link to a place in the page that is raised, has a footnote's role or class, or
goes to a footnote's id; or a raised number that some later paragraph begins with. Marks leave
the running text, and a note is told right after the paragraph that first cites it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from documents.ingestion.parsers.html.raised import raised_text
from documents.ingestion.parsers.html.tree import (
    Element,
    ancestors,
    descendants,
    names,
    text_of,
    walk,
)

_MARK = re.compile(
    r"[\[(]?\s*(?:note |n\.? ?)?(\d{1,3}|[a-zA-Z]{1,2}|[ivxlc]{1,5}|[*†‡§¶#]{1,3})\s*[\])]?\Z"
)
_NUMBER_MARK = re.compile(r"[\[(]?(\d{1,3}|[*†‡§¶]{1,3})[\])]?\Z")
_NOTE_ID = re.compile(
    r"(?:user-content-)?_?(?:fn|ftn|edn|note|foot|end|cite|sdfootnote|sdendnote)", re.I
)
_NOTE_CLASS = re.compile(r"footnote|noteref|endnote|fn-?ref|(?:^|[\s_-])reference", re.IGNORECASE)
_BACK = re.compile(r"[\s↩↵⏎↑^←▲\ufe0e\ufe0f]*\Z")
_BACK_NAME = re.compile(r"back-?(?:ref|link)|fn-?back|return", re.IGNORECASE)
_HOLDERS = names("li p div dd td aside section tr blockquote")
_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_CONTAINER = re.compile(r"footnote|endnote|references", re.IGNORECASE)
_MAX_MARKS = 5_000


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote: its mark as cited and the element that holds its text."""

    mark: str
    holder: Element


@dataclass(slots=True)
class Notes:
    """What the walk must know of a page's footnotes."""

    cited: dict[Element, Note | None] = field(default_factory=dict)  # by mark; None: note unknown
    left_out: set[Element] = field(default_factory=set)  # told elsewhere, or back links


def find_notes(root: Element) -> Notes:
    """Find the marks and notes of a page."""
    notes = Notes()
    targets = _targets(root)
    order = {element: index for index, element in enumerate(descendants(root))}
    for link in [element for element in order if element.tag == "a"][:_MAX_MARKS]:
        target = targets.get(link.get("href").removeprefix("#")) if _is_local(link) else None
        if target is None:
            continue
        if _is_back_link(link, goes_back=order[target] < order[link]):
            notes.left_out.add(link)
        elif _is_mark(link):
            _cite(notes, link, target)
    _cite_raised(notes, order)
    holders = {note.holder for note in notes.cited.values() if note}
    notes.left_out |= holders | set(_emptied(holders))
    return notes


def _is_local(link: Element) -> bool:
    return link.get("href").startswith("#") and len(link.get("href")) > 1


def _targets(root: Element) -> dict[str, Element]:
    targets: dict[str, Element] = {}
    for element in descendants(root):
        for name in (element.get("id"), element.get("name") if element.tag == "a" else ""):
            if name:
                targets.setdefault(name, element)
    return targets


def _is_back_link(link: Element, *, goes_back: bool) -> bool:
    """Whether a link leads from a note to where it is cited, which stands before it."""
    named = " ".join((link.get("class"), link.get("rev"), link.get("role")))
    if _BACK_NAME.search(named):
        return True
    return goes_back and (bool(_BACK.match(text_of(link))) or _is_mark(link))


def _is_mark(link: Element) -> bool:
    if not _MARK.match(text_of(link)):
        return False
    named = f"{link.get('class')} {link.get('role')} {link.get('rel')}"
    is_raised = _is_raised(link)
    if is_raised or "noteref" in link.get("role") or _NOTE_CLASS.search(named):
        return True
    return bool(_NOTE_ID.match(link.get("href")[1:]))


def _is_raised(link: Element) -> bool:
    around = [link, *[parent for _, parent in zip(range(2), ancestors(link), strict=False)]]
    if any(element.tag == "sup" for element in around):
        return True
    inside = list(link.elements())
    return len(inside) == 1 and inside[0].tag == "sup"


def _cite(notes: Notes, link: Element, target: Element) -> None:
    holder = _holder(target)
    if holder is None or any(parent is holder for parent in ancestors(link)):
        return
    if any(inner.tag in _HEADINGS for inner in islice(descendants(holder), 200)):
        return  # a section
    notes.cited[_outermost_mark(link)] = Note(text_of(link), holder)


def _holder(target: Element) -> Element | None:
    """The element that holds a note's text, from the place that its mark links to."""
    for element in (target, *ancestors(target)):
        if element.tag in _HEADINGS or element.tag in ("body", "html", "main", "article"):
            return None
        if element.tag in _HOLDERS and _has_text(element):
            return element.parent if element.tag == "td" else element
    return None


def _has_text(element: Element) -> bool:
    texts = (event.strip() for event in walk(element) if isinstance(event, str))
    return sum(len(text) for text in islice((text for text in texts if text), 4)) > 2


def _outermost_mark(link: Element) -> Element:
    """The `sup` or brackets around a link belong to the mark."""
    parent = link.parent
    while (
        parent is not None
        and parent.tag in ("sup", "span", "small")
        and (_MARK.match(text_of(parent)))
    ):
        link, parent = parent, parent.parent
    return link


def _cite_raised(notes: Notes, order: Collection[Element]) -> None:
    """Marks without links: a raised number, and a later paragraph that begins with it raised."""
    raised = [
        element
        for element in order
        if element.tag == "sup"
        and element not in notes.cited
        and _NUMBER_MARK.match(text_of(element))
    ][:_MAX_MARKS]
    before = _texts_before(raised)
    marks = [element for element in raised if not raised_text(before[element], text_of(element))]
    starting: dict[str, Element] = {}
    for element in marks:
        holder = _begun_by(element)
        if holder is not None:
            starting[text_of(element)] = holder
    for element in marks:
        note = starting.get(text_of(element))
        if note is not None and all(parent is not note for parent in ancestors(element)):
            notes.cited.setdefault(element, Note(text_of(element), note))


def _texts_before(raised: Sequence[Element]) -> dict[Element, str]:
    """The last characters before each element in its parent."""
    before = dict.fromkeys(raised, "")
    for parent in {element.parent for element in raised if element.parent is not None}:
        text = ""
        for child in parent.children:
            if isinstance(child, Element) and child in before:
                before[child] = text
            text = (child if isinstance(child, str) else text_of(child))[-20:]
    return before


def _begun_by(raised: Element) -> Element | None:
    parent = raised.parent
    if parent is None or parent.tag not in _HOLDERS:
        return None
    first = next((c for c in parent.children if not isinstance(c, str) or c.strip()), None)
    return parent if first is raised and len(text_of(parent)) > len(text_of(raised)) + 2 else None


def _emptied(holders: Collection[Element]) -> Iterator[Element]:
    """Lists and footnote sections of which nothing but a heading is left."""
    for parent in {holder.parent for holder in holders if holder.parent is not None}:
        element: Element | None = parent
        gone: set[Element] = set(holders)
        while element is not None and _is_container(element) and _is_empty_without(element, gone):
            yield element
            gone.add(element)
            element = element.parent


def _is_container(element: Element) -> bool:
    named = f"{element.get('class')} {element.get('id')} {element.get('role')}"
    return element.tag in ("ol", "ul", "dl", "tbody", "table") or bool(_CONTAINER.search(named))


def _is_empty_without(element: Element, gone: Collection[Element]) -> bool:
    left = [child for child in element.elements() if child not in gone]
    text = "".join(child for child in element.children if isinstance(child, str))
    return not text.strip() and all(
        child.tag in _HEADINGS or child.tag == "hr" or not text_of(child) for child in left
    )


def without_mark(text: str, mark: str) -> str:
    """A note's text without the mark or counted label that it begins with."""
    bare = re.escape(mark.strip("[]() "))
    return re.sub(rf"\A(?:- )?(?:[\[(]?{bare}[\])]?|\d+\.)(?:[.:)\s]\s*|(?=\D))", "", text, count=1)
