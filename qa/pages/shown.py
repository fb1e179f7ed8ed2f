"""An answer as the page shows it, from the JSON that every door shares.

The same for an answer just given and for one from the log. A quote is marked where it stands
in its passage; pieces of text say by which quotes they are covered, so that a page without
script marks them all, and the script one at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from django.utils.dateformat import format as format_date
from django.utils.translation import gettext

from qa.pages import texts

_LONG_LINE = 55  # a line this long that ends without a blank one was wrapped by an editor
_ITEM = re.compile(r"[-*•|]\s|\(?\w{1,3}[.)]\s|\d+(\.\d+)+\s|\S+:\s.*;")
_CJK = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `quotes` are the keys of the quotes that cover it, parted by blanks.

    On the page of a policy it may lead to the clause that it names (`url`, with the `title` of
    its section), and clauses begin with it that can be pointed at (`anchors`).
    """

    text: str
    quotes: str = ""
    url: str = ""
    title: str = ""
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownCitation:
    """One badge behind a claim."""

    n: int
    key: str  # of its quote
    label: str
    quote: str
    url: str


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """One sentence with its badges."""

    text: str
    citations: tuple[ShownCitation, ...]


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A passage beside the answer; `n` is None when no claim cites it."""

    n: int | None
    document: str
    policy_url: str
    heading: str
    path: str
    version: int
    days: str
    pieces: tuple[Piece, ...]
    url: str
    has_pending_review: bool


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step of the flow."""

    name: str
    label: str
    status: str
    status_label: str
    ms: str


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """A whole outcome for the templates."""

    id: str
    status: str
    question: str
    as_of: str
    claims: tuple[ShownClaim, ...]
    cited: tuple[ShownSource, ...]
    looked_at: tuple[ShownSource, ...]
    steps: tuple[ShownStep, ...]
    refusal: dict[str, Any] | None
    reason: str
    confidence: str
    confidence_label: str
    notices: tuple[str, ...]
    model: str


def shown_answer(outcome: dict[str, Any]) -> ShownAnswer:
    """The view of an outcome, or of the bare record of one that may no longer be read."""
    citations = [c for claim in outcome["claims"] for c in claim["citations"]]
    keys = quote_keys(citations)
    sources = [_source(source, citations, keys) for source in outcome["sources"]]
    cited = sorted((s for s in sources if s.n is not None), key=lambda s: s.n or 0)
    refusal = outcome.get("refusal")
    confidence = outcome.get("confidence") or ""
    return ShownAnswer(
        id=outcome["id"],
        status=outcome["status"],
        question=outcome["question"],
        as_of=day(outcome["as_of"]),
        claims=tuple(_claim(claim, keys) for claim in outcome["claims"]),
        cited=tuple(cited),
        looked_at=tuple(s for s in sources if s.n is None),
        steps=tuple(_step(step) for step in outcome.get("steps", ())),
        refusal=refusal,
        reason=texts.reason(refusal["code"]) if refusal else "",
        confidence=confidence,
        confidence_label=texts.confidence(confidence),
        notices=tuple(gettext(notice) for notice in outcome["notices"]),
        model=outcome.get("model") or "",
    )


def quote_keys(citations: Iterable[dict[str, Any]]) -> dict[tuple[int, str], str]:
    """A key for each quote of each passage, in order, such as `q1`."""
    keys: dict[tuple[int, str], str] = {}
    for citation in citations:
        keys.setdefault((citation["n"], citation["quote"]), f"q{len(keys) + 1}")
    return keys


def _claim(claim: dict[str, Any], keys: dict[tuple[int, str], str]) -> ShownClaim:
    citations = tuple(
        ShownCitation(
            n=c["n"],
            key=keys[c["n"], c["quote"]],
            label=f"{c['document']}, {heading(c)}",
            quote=reflowed(c["quote"]),
            url=c["url"],
        )
        for c in claim["citations"]
    )
    return ShownClaim(claim["text"], citations)


def _source(
    source: dict[str, Any],
    citations: Sequence[dict[str, Any]],
    keys: dict[tuple[int, str], str],
) -> ShownSource:
    own = [c for c in citations if same_section(c["url"], source["url"])]
    quotes = {keys[c["n"], c["quote"]]: c["quote"] for c in own}
    return ShownSource(
        n=own[0]["n"] if own else None,
        document=source["document"],
        policy_url=f"/policies/{source['policy']}/?as_of={source['effective_from']}",
        heading=heading(source),
        path=" › ".join(name for name in source["section_path"][:-1] if name != source["document"]),
        version=source["version"],
        days=days(source["effective_from"], source["effective_to"]),
        pieces=pieces(source["text"], quotes),
        url=own[0]["url"] if own else source["url"],
        has_pending_review=source.get("has_pending_review", False),
    )


def _step(step: dict[str, Any]) -> ShownStep:
    return ShownStep(
        name=step["name"],
        label=texts.step(step["name"]),
        status=step["status"],
        status_label=texts.status(step["status"]),
        ms=f"{step['ms']:.0f} ms" if step["status"] != "skipped" else "",
    )


def same_section(url: str, other: str) -> bool:
    """Whether two addresses lead to one section."""
    return urlsplit(url).path == urlsplit(other).path


def heading(section: dict[str, Any]) -> str:
    """A section's number and title: `4 Notifying the authority`."""
    number, title = section["section_id"], section["section_title"]
    return title if title.startswith(number) else f"{number} {title}"


def pieces(text: str, quotes: dict[str, str]) -> tuple[Piece, ...]:
    """The text cut where a quote begins or ends; a quote that is not in it marks nothing."""
    spans = [(text.find(quote), len(quote), key) for key, quote in quotes.items()]
    spans = [(start, start + size, key) for start, size, key in spans if start >= 0 and size]
    edges = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    flowing = reflowed(text)
    return tuple(
        Piece(flowing[a:b], " ".join(key for start, end, key in spans if start <= a and b <= end))
        for a, b in pairwise(edges)
    )


def reflowed(text: str) -> str:
    """The text with an editor's line breaks inside a sentence made blanks.

    As long as before, so offsets hold. A break stays before an item, a number or a blank
    line, after a short line, and between ideographs, where a blank would be wrong.
    """
    lines = text.split("\n")
    joined = lines[0]
    for before, line in pairwise(lines):
        joined += (" " if _is_wrapped(before, line) else "\n") + line
    return joined


def _is_wrapped(before: str, line: str) -> bool:
    if len(before) < _LONG_LINE or not line.strip() or _ITEM.match(line):
        return False
    return not (_CJK.match(line[0]) or _CJK.match(before[-1]) or line[0] == " ")


def day(value: date | str) -> str:
    """A date in the reader's language."""
    value = date.fromisoformat(value) if isinstance(value, str) else value
    # Translators: Django's date format, such as 31 January 2026.
    return format_date(value, gettext("j F Y"))


def days(first: date | str, last: date | str | None) -> str:
    """From when to when a version is in force."""
    if last is None:
        return gettext("in force since %(first)s") % {"first": day(first)}
    return gettext("in force from %(first)s to %(last)s") % {"first": day(first), "last": day(last)}
