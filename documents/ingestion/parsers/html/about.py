"""What a page says about itself, and what in it acts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from documents.ingestion.parsers.html.tree import Element, descendants, names, text_of
from documents.records import ActiveContent

_META = {
    "description": "description",
    "og:description": "description",
    "dcterms.description": "description",
    "author": "author",
    "dcterms.creator": "author",
    "date": "date",
    "dc.date": "date",
    "dcterms.date": "date",
    "dcterms.issued": "date",
    "article:published_time": "published",
    "article:modified_time": "modified",
    "dcterms.modified": "modified",
    "last-modified": "modified",
    "dcterms.valid": "effective",
    "effective": "effective",
    "effective-date": "effective",
    "effective_date": "effective",
    "version": "version",
    "owner": "owner",
    "department": "department",
}
_MEDIA = names("audio video applet")
_EMBEDDED = names("object embed")
_MAX_DETAIL = 200
_MAX_ITEMS = 100
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_](hans|hant))?(?:[-_]([a-z]{2}))?", re.IGNORECASE)
_TRADITIONAL_PLACES = frozenset({"tw", "hk", "mo"})


def metadata_of(root: Element) -> dict[str, str]:
    """What `<title>` and `<meta>` say; the first of a kind counts."""
    found: dict[str, str] = {}
    for element in descendants(root):
        if element.tag == "title" and element.parent is not None and element.parent.tag == "head":
            found.setdefault("title", text_of(element))
        elif element.tag == "meta":
            name = element.get("name") or element.get("property") or element.get("http-equiv")
            kind = _META.get(name.strip().lower())
            if kind:
                found.setdefault(kind, " ".join(element.get("content").split()))
    if root.get("lang"):
        found["language"] = root.get("lang")
    return {name: value for name, value in found.items() if value}


def declared_language(root: Element) -> str | None:
    """The language that the page names, in the terms of `ParsedDocument`."""
    match = _LANGUAGE.match(root.get("lang") or root.get("xml:lang"))
    if match is None:
        return None
    language, script, place = (part.lower() if part else "" for part in match.groups())
    if language != "zh":
        return language
    is_traditional = script == "hant" or (not script and place in _TRADITIONAL_PLACES)
    return "zh-Hant" if is_traditional else "zh-Hans"


def active_content(root: Element) -> tuple[ActiveContent, ...]:
    """Scripts, frames, embedded things, redirects and forms that send elsewhere.

    A page with scripts is an ordinary page, and none of this is run or fetched here, so none
    of it is dangerous. Repeated items are named once.
    """
    found = dict.fromkeys(
        ActiveContent(kind, detail[:_MAX_DETAIL], is_dangerous=False)
        for element in descendants(root)
        for kind, detail in _active(element)
    )
    return tuple(found)[:_MAX_ITEMS]


def _active(element: Element) -> Iterator[tuple[str, str]]:
    tag = element.tag
    if tag == "script":
        yield "javascript", element.get("src") or "inline script"
    elif tag in ("iframe", "frame"):
        yield "external_link", element.get("src") or "inline frame"
    elif tag in _EMBEDDED:
        yield "embedded_file", element.get("data") or element.get("src") or tag
    elif tag in _MEDIA:
        yield "rich_media", element.get("src") or tag
    elif tag == "meta" and element.get("http-equiv").lower() == "refresh":
        yield "redirect", element.get("content")
    elif tag == "form" and _host(element.get("action")):
        yield "form_submit", element.get("action")
    elif tag == "a" and element.get("href").strip().lower().startswith("javascript:"):
        yield "javascript", "javascript: link"
    if any(name.startswith("on") and value for name, value in element.attributes.items()):
        yield "javascript", "event handler"


def _host(address: str) -> str:
    """The host of an address, empty for one inside the page's own site."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return address
