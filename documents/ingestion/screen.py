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
from documents.ingestion.windows import WordIndex, around
from documents.records import (
    ChunkRecord,
    FindingRecord,
    ParsedDocument,
    SectionRecord,
    Severity,
)

MAX_FINDINGS = 500  # of one text; a hostile file must not fill the review queue's table
MAX_QUOTED = 400  # characters of a match that a finding keeps
_SENTENCE_LETTERS = 10  # spaced-out letters in a row that may be more than one word
_MAX_JOINED = 1_000  # spaced-out letters that are read; more of them are a finding
_LAYERS = 2  # encodings inside encodings
_HIDDEN_WORDS = 8  # hidden text with more words than this is prose, and noted as such
_PROSE_HIDES_IN = frozenset({"hidden", "no_script", "comment"})
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
    if not found and where in _PROSE_HIDES_IN and len(_WORD.findall(text)) > _HIDDEN_WORDS:
        yield _record("hidden-text", text, (0, len(text)), "", where, Severity.NOTICE)


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
    known: Sequence[Rule],
    text: str,
    form: Folded,
    changed: Sequence[tuple[int, int]],
    where: str,
) -> Iterator[FindingRecord]:
    """Matches near what a form changed."""
    within = around(changed, len(form.text))
    index = WordIndex(form.text, within)
    for rule in known:
        for start, end in rule.spans(index, within):
            yield _finding(rule, text, form, start, end, where)
    joined = [place for place in changed if _is_stretched(form, *place)]
    yield from _by_joined_letters(known, text, form, joined, where)


def _by_joined_letters(
    known: Iterable[Rule],
    text: str,
    form: Folded,
    joined: Sequence[tuple[int, int]],
    where: str,
) -> Iterator[FindingRecord]:
    """Matches in sentences whose letters all stood apart, so that words have no borders.

    Pages of such text are a finding in themselves: no rule needs to read them.
    """
    sentences = [(start, end) for start, end in joined if end - start >= _SENTENCE_LETTERS]
    if sum(end - start for start, end in sentences) > _MAX_JOINED:
        first, last = form.span(sentences[0][0], sentences[-1][1])
        yield _record("spaced-letters", text, (first, last), "", where)
        return
    within = around(sentences, len(form.text), reach=40)
    for rule in known if sentences else ():
        for start, end in rule.squeezed_spans(form.text, within):
            if _is_stretched(form, start, end):
                yield _finding(rule, text, form, start, end, where)


def _is_stretched(form: Folded, start: int, end: int) -> bool:
    """Whether a stretch was much longer before letters that stood apart were joined."""
    first, last = form.span(start, end)
    return last - first > 1.6 * (end - start)


def _finding(
    rule: Rule, text: str, form: Folded, start: int, end: int, where: str
) -> FindingRecord:
    span, folded = form.span(start, end), form.text[start:end]
    return _record(rule.id, text, span, folded, where, rule.severity)


def _record(
    rule: str,
    text: str,
    span: tuple[int, int],
    folded: str,
    where: str,
    severity: Severity = Severity.BLOCK,
) -> FindingRecord:
    start, end = span
    return FindingRecord(
        rule=rule,
        severity=severity,
        start=start,
        end=end,
        text=text[start:end][:MAX_QUOTED],
        folded=folded[:MAX_QUOTED],
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
            span = (item.start, item.end)
            yield _record(f"encoded-{group.kind}", text, span, item.decoded, where)
    plain = unescape(text)
    if plain is not None and plain.changed is not None:
        for finding in (*_by_rules(plain.text, where), *_deeper(plain.text, where, layer)):
            if _touches(plain.changed, finding.start, finding.end):
                span = plain.span(finding.start, finding.end)
                yield _record("encoded-escapes", text, span, finding.folded, where)


def _deeper(text: str, where: str, layer: int) -> Iterator[FindingRecord]:
    if layer < _LAYERS:
        yield from _by_payloads(text, where, layer + 1)


def _touches(places: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a span meets one of some places, which are in order."""
    i = bisect_left(places, (start, start))
    return (i < len(places) and places[i][0] < end) or (i > 0 and places[i - 1][1] > start)


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
