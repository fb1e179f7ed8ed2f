"""Screening: passages that speak to an AI system or hide from a person.

chunk -> **screen** -> review. Text is matched in several folded forms, as one piece, so that a
chunk border hides nothing; encoded stretches are decoded, two layers deep, and screened
again. The text itself is never changed. Rules are data (`rules/*.yaml`).

What a finding touches (`FindingRecord.chunks`):

- in the body: the chunks that the match overlaps;
- in a heading: every chunk under that heading, since passages travel with their section path;
- in the title, the file name, metadata or hidden text: none, which means the version as a
  whole, since title and metadata travel with every passage, and since text that people
  cannot see has no place among the chunks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from documents.ingestion.folding import Folded, fold_for_screening
from documents.ingestion.invisible import invisible_findings
from documents.ingestion.payloads import payloads, unescape
from documents.ingestion.screening_rules import Rule, rules
from documents.ingestion.windows import WordIndex
from documents.records import (
    ChunkRecord,
    FindingRecord,
    ParsedDocument,
    SectionRecord,
    Severity,
)

MAX_FINDINGS = 500  # of one text; a hostile file must not fill the review queue's table
MAX_QUOTED = 400  # characters of a match that a finding keeps
_LAYERS = 2  # encodings inside encodings
_HIDDEN_WORDS = 8  # hidden text with more words than this is prose, and noted as such
_WORD = re.compile(r"\w+")
_FILE_NAME_BLANKS = str.maketrans("_-+.", "    ")


def screen_text(text: str) -> tuple[FindingRecord, ...]:
    """Screen one text; offsets count in it, `where` is `body`."""
    return tuple(_screen(text, "body"))


def screen_document(
    parsed: ParsedDocument,
    sections: Sequence[SectionRecord],
    chunks: Sequence[ChunkRecord],
    title: str,
    file_name: str,
) -> tuple[FindingRecord, ...]:
    """Screen everything of a document that could reach a model or a reader.

    Body and headings as one text, then title, file name, metadata and hidden text.

    Args:
        parsed: the document, with its hidden text.
        sections: of the document, in order.
        chunks: of the document, in order.
        title: as shown, whether the file's own or given at upload.
        file_name: as uploaded.

    Returns:
        Findings in that order; see the module for `chunks` of each.
    """
    body = _placed(_screen(parsed.text, "body"), sections, chunks)
    others = [("title", title), ("file_name", file_name.translate(_FILE_NAME_BLANKS))]
    others += [("metadata", value) for value in parsed.metadata.values()]
    around = [finding for where, text in others for finding in _screen(text, where)]
    hidden = [
        finding for item in parsed.hidden for finding in _screen_hidden(item.text, item.where)
    ]
    return (*body, *around, *hidden)


def _screen(text: str, where: str, *, is_hidden: bool = False) -> list[FindingRecord]:
    """All findings of a text, by position; overlapping ones of the same rule count once."""
    found = list(invisible_findings(text, where))
    found += _by_rules(text, where, is_hidden=is_hidden)
    found += _by_payloads(text, where)
    return _distinct(found)[:MAX_FINDINGS]


def _screen_hidden(text: str, where: str) -> Iterator[FindingRecord]:
    """Screen text people cannot see; prose there is noted even if no rule knows it."""
    found = _screen(text, where, is_hidden=True)
    yield from found
    if not found and where in ("hidden", "comment") and len(_WORD.findall(text)) > _HIDDEN_WORDS:
        yield FindingRecord(
            rule="hidden-text",
            severity=Severity.NOTICE,
            start=0,
            end=len(text),
            text=text[:MAX_QUOTED],
            folded="",
            where=where,
        )


def _by_rules(text: str, where: str, *, is_hidden: bool = False) -> Iterator[FindingRecord]:
    first, *others = fold_for_screening(text)
    known = [rule for rule in rules() if is_hidden or not rule.hidden_only]
    index = WordIndex(first.text)
    for rule in known:
        for start, end in rule.spans(index):
            yield _finding(rule, text, first, start, end, where)
    for form in others:
        if form.changed:
            yield from _by_changes(known, text, form, form.changed, where)


def _by_changes(
    known: Iterable[Rule],
    text: str,
    form: Folded,
    changed: Sequence[tuple[int, int]],
    where: str,
) -> Iterator[FindingRecord]:
    """Matches near what a form changed; where letters were joined, blanks are optional."""
    for rule in known:
        for start, end in rule.spans_near(form.text, changed, squeezed=False):
            yield _finding(rule, text, form, start, end, where)
    joined = [place for place in changed if _is_stretched(form, *place)]
    if joined:
        for rule in known:
            for start, end in rule.spans_near(form.text, joined, squeezed=True):
                if _is_stretched(form, start, end):
                    yield _finding(rule, text, form, start, end, where)


def _is_stretched(form: Folded, start: int, end: int) -> bool:
    """Whether a stretch was much longer before letters that stood apart were joined."""
    first, last = form.span(start, end)
    return last - first > 1.6 * (end - start)


def _finding(
    rule: Rule, text: str, form: Folded, start: int, end: int, where: str
) -> FindingRecord:
    first, last = form.span(start, end)
    return FindingRecord(
        rule=rule.id,
        severity=rule.severity,
        start=first,
        end=last,
        text=text[first:last][:MAX_QUOTED],
        folded=form.text[start:end][:MAX_QUOTED],
        where=where,
    )


def _by_payloads(text: str, where: str, layer: int = 1) -> Iterator[FindingRecord]:
    """Screen what a text decodes to; the finding marks the encoded stretch."""
    for group in payloads(text):
        inner = [*_by_rules(group.text, where), *_deeper(group.text, where, layer)]
        touched = [item for f in inner for item in group.touched(f.start, f.end)]
        if group.kind in ("base64", "hex"):
            touched += [item for item in group.items if item.is_prose]
        for item in dict.fromkeys(touched):
            yield _encoded(group.kind, text, (item.start, item.end), item.decoded, where)
    plain = unescape(text)
    if plain is not None and plain.changed is not None:
        for finding in (*_by_rules(plain.text, where), *_deeper(plain.text, where, layer)):
            if _touches(plain.changed, finding.start, finding.end):
                span = plain.span(finding.start, finding.end)
                yield _encoded("escapes", text, span, finding.folded, where)


def _deeper(text: str, where: str, layer: int) -> Iterator[FindingRecord]:
    if layer < _LAYERS:
        yield from _by_payloads(text, where, layer + 1)


def _touches(places: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a span meets one of some places, which are in order."""
    i = bisect_left(places, (start, start))
    return (i < len(places) and places[i][0] < end) or (i > 0 and places[i - 1][1] > start)


def _encoded(
    kind: str, text: str, span: tuple[int, int], decoded: str, where: str
) -> FindingRecord:
    start, end = span
    return FindingRecord(
        rule=f"encoded-{kind}",
        severity=Severity.BLOCK,
        start=start,
        end=end,
        text=text[start:end][:MAX_QUOTED],
        folded=decoded[:MAX_QUOTED],
        where=where,
    )


def _distinct(found: Iterable[FindingRecord]) -> list[FindingRecord]:
    """By position; of one rule's overlapping findings the first and longest stays."""
    kept: list[FindingRecord] = []
    ends: dict[str, int] = {}
    for finding in sorted(found, key=lambda f: (f.start, -f.end, f.rule)):
        if finding.start >= ends.get(finding.rule, -1):
            kept.append(finding)
            ends[finding.rule] = finding.end
    return kept


def _placed(
    found: Iterable[FindingRecord],
    sections: Sequence[SectionRecord],
    chunks: Sequence[ChunkRecord],
) -> Iterator[FindingRecord]:
    """Say which chunks each finding of the body touches, and whether it sits in a heading."""
    for finding in found:
        touched = {
            chunk.ordinal
            for chunk in chunks
            if chunk.start < finding.end and finding.start < chunk.end
        }
        headed = _headed_sections(finding, sections)
        touched |= {chunk.ordinal for chunk in chunks if chunk.section in headed}
        is_heading = bool(headed) and not any(
            chunk.start <= finding.start < chunk.end for chunk in chunks
        )
        yield replace(
            finding,
            where="heading" if is_heading else finding.where,
            chunks=tuple(sorted(touched)),
        )


def _headed_sections(finding: FindingRecord, sections: Sequence[SectionRecord]) -> set[int]:
    """The sections whose heading a finding touches, with all that stand under them."""
    headed: set[int] = set()
    for section in sections:
        is_hit = section.start < finding.end and finding.start < section.body_start
        if is_hit or section.parent in headed:
            headed.add(section.ordinal)
    return headed
