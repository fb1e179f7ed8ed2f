"""What surrounds the text of a page: menus, banners, footers, share bars, boxes of links.

Roles, elements and the words of classes and ids point at it; what it holds decides. Headed
body text and prose stay, whatever surrounds them, since a lost rule is worse than a kept menu.
No library for main content is used: each one lost policy text (ADR 0012).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from documents.ingestion.parsers.html.looks import Looks
from documents.ingestion.parsers.html.tree import (
    COMMENT,
    Closed,
    Element,
    Opened,
    descendants,
    names,
    text_of,
    walk,
)

_ROLES = names(
    "navigation banner contentinfo complementary search menu menubar toolbar tablist alertdialog"
)
_TAGS = names("nav footer aside header menu search")
_CONTENT = names("main article section blockquote td th li dd figure")
_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_CUES = re.compile(
    r"cookies?|consent|gdpr|breadcrumbs?|crumbs?|skip(?:link|nav|to)?|shar(?:e|ing)|social|sidebar"
    r"|related|pagination|pager|paginator|newsletter|subscribe|advert(?:s|isement)?|ads?|promo"
    r"|menu|navbar|nav|navigation|topbar|masthead|footer|header|editsection|toc|signin|login"
    r"|backtotop|printlink|catlinks|navbox|jump|feedback|comments?|hatnote|toolbar|search"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_PROSE = 200  # characters outside links from which a box is text, not furniture
_BODY = 60  # characters after a heading that make it headed text
_SENTENCE = 25  # the same, where it holds the end of a sentence
_LINK_SHARE = 0.5
_ENDS_SENTENCE = re.compile(r"[.!?。！？:;；](?:\s|\Z)")


@dataclass(slots=True)
class _Measure:
    """What an element holds; characters are counted without white space."""

    is_inside: bool = False  # the main content
    text: int = 0
    links: int = 0
    ends: int = 0  # of sentences, outside links
    headings: int = 0
    has_h1: bool = False
    before: int = 0  # characters outside links before the first heading
    after: int = 0  # the same, after the last
    headed: int = 0  # the most after any one heading

    @property
    def link_share(self) -> float:
        """Share of the text that is links."""
        return self.links / self.text if self.text else 1.0

    def add(self, inner: _Measure) -> None:
        """Count in what a child holds, in reading order."""
        self.text += inner.text
        self.links += inner.links
        self.ends += inner.ends
        self.has_h1 = self.has_h1 or inner.has_h1
        if self.headings:
            self.headed = max(self.headed, self.after + inner.before, inner.headed)
        else:
            self.before += inner.before
            self.headed = inner.headed
        self.after = inner.after if inner.headings else self.after + inner.before
        self.headings += inner.headings

    def add_text(self, text: str, *, is_link: bool, is_heading: bool) -> None:
        """Count in text; a heading's words are no text under it."""
        size = len("".join(text.split()))
        if is_heading:
            self.text += size
            return
        own = _Measure(text=size, links=size if is_link else 0, before=0 if is_link else size)
        own.ends = 0 if is_link else len(_ENDS_SENTENCE.findall(text))
        self.add(own)

    def add_heading(self, tag: str) -> None:
        """Count in that a heading begins here; its own words are no text of it."""
        self.has_h1 = self.has_h1 or tag == "h1"
        self.headings += 1
        self.after = 0


def find_furniture(root: Element, looks: Looks) -> tuple[set[Element], bool]:
    """The elements around the main content, and whether too much would go.

    Where more than half of the visible text would go from a page that does not name its main
    part, nothing does and the second value is true: its layout is not known here.
    """
    measures = _measured(root, looks)
    found = {
        element
        for element, measure in measures.items()
        if element is not root and _is_furniture(element, measure)
    }
    outermost: set[Element] = set()
    lost = 0
    for element in descendants(root, skipped=found):
        inner = [child for child in element.elements() if child in found]
        outermost.update(inner)
        lost += sum(measures[child].text for child in inner)
    outermost.update(child for child in root.elements() if child in found)
    lost += sum(measures[child].text for child in root.elements() if child in found)
    if lost > measures[root].text / 2 and not _names_its_main(root, looks):
        return set(), True
    return outermost | _contents_lists(root, outermost), False


def _names_its_main(root: Element, looks: Looks) -> bool:
    """Whether the page itself says which part is its main content."""
    return any(
        (element.tag in ("main", "article") or element.get("role").lower() == "main")
        and element not in looks.hidden
        and any(inner.tag in _HEADINGS for inner in descendants(element))
        for element in descendants(root)
    )


def _measured(root: Element, looks: Looks) -> dict[Element, _Measure]:
    """What the root and each element that could be furniture hold."""
    measures: dict[Element, _Measure] = {}
    stack = [_Measure()]
    links = inside = headings = 0
    for event in walk(root):
        if isinstance(event, str):
            stack[-1].add_text(event, is_link=links > 0, is_heading=headings > 0)
            continue
        element, change = event.element, 1 if isinstance(event, Opened) else -1
        links += change * (element.tag == "a")
        if isinstance(event, Opened):
            stack.append(_Measure(is_inside=inside > 0))
            if element.tag in _HEADINGS and element not in looks.hidden:
                stack[-1].add_heading(element.tag)
        inside += change * (element.tag in ("main", "article"))
        headings += change * (element.tag in _HEADINGS)
        if isinstance(event, Closed):
            measure = stack.pop()
            if element not in looks.hidden:
                stack[-1].add(measure)
                if element is root or _points_at(element):
                    measures[element] = measure
    return measures


def _points_at(element: Element) -> bool:
    if element.tag in _HEADINGS or element.tag in ("body", "html", "main", "article", COMMENT):
        return False
    role = element.get("role").lower()
    if element.tag in _TAGS or role in _ROLES or element.get("aria-label").lower() == "breadcrumb":
        return True
    return any(_has_cue(word) for word in element.words)


def _has_cue(word: str) -> bool:
    parts = [part.lower() for part in _WORD.findall(word)]
    return any(_CUES.fullmatch(part) for part in (*parts, "".join(parts[-3:])))


def _is_furniture(element: Element, measure: _Measure) -> bool:
    own = measure.text - measure.links
    is_mostly_links = measure.link_share >= _LINK_SHARE
    is_menu = is_mostly_links and (element.tag == "nav" or element.get("role") == "navigation")
    least = _SENTENCE if measure.ends else _BODY
    if not measure.text or measure.has_h1 or (measure.headed >= least and not is_menu):
        return False
    if element.tag in ("header", "footer") and measure.is_inside:
        return is_mostly_links
    if element.tag == "header" and measure.headings:
        return False
    if element.tag in _TAGS or element.get("role").lower() in _ROLES:
        return own < _PROSE or is_mostly_links
    if not is_mostly_links and (measure.headings or (measure.is_inside and measure.ends)):
        return False
    if measure.ends > 1 and not measure.links:
        return own < _PROSE and _asks(element)
    return own < _PROSE and (is_mostly_links or own < _PROSE / 2 or _asks(element))


def _asks(element: Element) -> bool:
    """A consent banner: prose of its own, with buttons."""
    return any(child.tag in ("button", "input") for child in descendants(element))


def _contents_lists(root: Element, skipped: Collection[Element]) -> set[Element]:
    """Lists of links to the page's own headings, whose words they repeat."""
    headings = {_folded(text_of(e)) for e in descendants(root) if e.tag in _HEADINGS} - {""}
    found: set[Element] = set()
    lists: set[Element] = set()
    for element in descendants(root, skipped=skipped):
        if element.parent in lists:
            lists.add(element)
        elif element.tag in ("ul", "ol"):
            lists.add(element)
            if _repeats(element, headings):
                found.add(element)
    return found


def _repeats(element: Element, headings: Collection[str]) -> bool:
    links = [child for child in descendants(element) if child.tag == "a"]
    if len(links) < 3 or not all(link.get("href").startswith("#") for link in links):
        return False
    own = len(text_of(element)) - sum(len(text_of(link)) + 1 for link in links)
    matching = sum(_folded(text_of(link)) in headings for link in links)
    return own <= 4 * len(links) and matching >= 0.8 * len(links)


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
