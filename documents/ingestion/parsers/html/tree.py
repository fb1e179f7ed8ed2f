"""An HTML page as a small tree of our own, made once from the parser's.

The parser is lexbor, which builds the tree that browsers build (ADR 0012). Every step after
this one reads the small tree, and none calls itself for a child: a page may nest ten thousand
elements, which is more than Python's stack holds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from documents.errors import ParseError


def names(text: str) -> frozenset[str]:
    """The words of `text`, as a set of names to look up."""
    return frozenset(text.split())


COMMENT = "#comment"
VOID = names("area base br col embed hr img input link meta param source track wbr")
# The parser's time grows with the square of the depth: 0.3 s at 10,000, 80 s at 100,000.
_MAX_DEPTH = 20_000
_MAX_NODES = 1_500_000  # about 500 MB
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_MARKUP = re.compile(r"<[^>]*>")
_CLOSED_BY_NEXT = names("p li dt dd tr td th option thead tbody tfoot rt rp")


@dataclass(slots=True, eq=False)
class Element:
    """An element with its attributes (names in lower case) and children in order."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)

    def get(self, name: str) -> str:
        """An attribute's value, empty where it is absent."""
        return self.attributes.get(name, "")

    @property
    def words(self) -> list[str]:
        """The classes and the id."""
        return [*self.get("class").split(), *self.get("id").split()]

    def elements(self) -> Iterator[Element]:
        """The element children in order."""
        return (child for child in self.children if isinstance(child, Element))


@dataclass(slots=True, eq=False)  # frozen ones take twice the time, and there are many
class Opened:
    """The walk enters an element."""

    element: Element


@dataclass(slots=True, eq=False)
class Closed:
    """The walk leaves an element."""

    element: Element


Event = Opened | Closed | str


def parse_tree(markup: str) -> Element:
    """Parse a page into its `html` element.

    Raises:
        ParseError: `refused`, where it nests or grows beyond what a page may.
    """
    _check_depth(markup)
    root = LexborHTMLParser(markup).root
    if root is None:
        return Element("html")
    return _converted(root)


def walk(root: Element, *, skipped: Collection[Element] = ()) -> Iterator[Event]:
    """Go through a tree in reading order; what is `skipped` is left out with its content."""
    yield Opened(root)
    open_elements = [(root, iter(root.children))]
    while open_elements:
        element, children = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            yield Closed(element)
        elif isinstance(child, str):
            yield child
        elif child not in skipped:
            yield Opened(child)
            open_elements.append((child, iter(child.children)))


def descendants(root: Element, *, skipped: Collection[Element] = ()) -> Iterator[Element]:
    """Every element below `root`, in reading order."""
    pending = root.children[::-1]
    while pending:
        child = pending.pop()
        if isinstance(child, Element) and child not in skipped:
            yield child
            pending += child.children[::-1]


def ancestors(element: Element) -> Iterator[Element]:
    """The element's parent, its parent, and so on."""
    parent = element.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def text_of(root: Element, *, skipped: Collection[Element] = ()) -> str:
    """The text below an element with white space collapsed, comments left out."""
    pieces: list[str] = []
    comments = 0
    for event in walk(root, skipped=skipped):
        if isinstance(event, str):
            if not comments:
                pieces.append(event)
        elif event.element.tag == COMMENT:
            comments += 1 if isinstance(event, Opened) else -1
    return " ".join("".join(pieces).split())


def _check_depth(markup: str) -> None:
    if markup.count("<") < _MAX_DEPTH:
        return
    depth = 0
    for match in _TAG.finditer(markup):
        tag = match[2].lower()
        if tag not in VOID and tag not in _CLOSED_BY_NEXT:
            depth = max(depth + (-1 if match[1] else 1), 0)
            if depth > _MAX_DEPTH:
                raise ParseError(
                    f"The page nests more than {_MAX_DEPTH:,} elements. Save it again from a"
                    " browser or as plain text, then upload that.",
                    code="refused",
                )


def _converted(root: LexborNode) -> Element:
    top = Element("html", _attributes(root))
    pending = [(root, top)]
    count = 0
    while pending:
        node, place = pending.pop()
        child = node.first_child
        while child is not None:
            count += 1
            if count > _MAX_NODES:
                message = "The page holds too many elements. Split it and upload the parts."
                raise ParseError(message, code="refused")
            made = _append(child, place)
            if made is not None:
                pending.append((child, made))
            child = child.next
    return top


def _append(node: LexborNode, place: Element) -> Element | None:
    """Add one node; the new element, where it can have children."""
    if node.is_text_node:
        place.children.append(node.text_content or "")
        return None
    if node.is_comment_node:
        comment = Element(COMMENT, parent=place, children=[node.comment_content or ""])
        place.children.append(comment)
        return None
    if not node.is_element_node:
        return None
    element = Element((node.tag or "").lower(), _attributes(node), place)
    place.children.append(element)
    if element.tag == "template":  # its content hangs outside the tree
        element.children.append(_MARKUP.sub(" ", node.html or ""))
        return None
    return element


def _attributes(node: LexborNode) -> dict[str, str]:
    return {name.lower(): value or "" for name, value in node.attributes.items()}
