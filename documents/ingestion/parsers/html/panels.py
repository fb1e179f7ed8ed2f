"""Panels that a control on the page opens: accordions and tabs, seen with one click."""

from __future__ import annotations

from collections.abc import Iterator

from documents.ingestion.parsers.html.tree import COMMENT, Element, descendants, names

_PANEL_TAGS = names("div section p ul ol dl")


def find_panels(root: Element) -> set[Element]:
    """What a control on the page opens, named by it or right after it, and such buttons."""
    named: set[str] = set()
    candidates: list[Element] = []
    after_button: set[Element] = set()
    for element in descendants(root):
        named.update(_named_by(element))
        if element.get("id") or element.get("role"):
            candidates.append(element)
        after_button.update(_after_buttons(element))
    panels = {
        element
        for element in candidates
        if element.get("id") in named or element.get("role").lower() == "tabpanel"
    }
    return panels | after_button


def _named_by(element: Element) -> list[str]:
    named = element.get("aria-controls").split()
    if "data-toggle" in element.attributes or "data-bs-toggle" in element.attributes:
        target = element.get("data-target") or element.get("data-bs-target")
        named.append((target or element.get("href")).lstrip("#"))
    return [name for name in named if name]


def _after_buttons(parent: Element) -> Iterator[Element]:
    before: Element | None = None
    for child in parent.elements():
        if child.tag in _PANEL_TAGS and before is not None and before.tag == "button":
            yield before
            yield child
        before = before if child.tag == COMMENT else child
