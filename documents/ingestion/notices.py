"""Warnings about a whole document: what of it is in no passage, and which pages were not read.

Also how warnings are put together, so that a person reads each thing once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from documents.records import Notice, ParsedDocument, ProcessedDocument

LEAST_COVERAGE = 0.98
_MOST_OF_A_KIND = 10


def compact(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """The notices by page and code: the same words once, and of each code the first ten."""
    pages: dict[tuple[str, str], set[int]] = {}
    for notice in notices:
        pages.setdefault((notice.code, notice.message), set()).update(notice.pages)
    merged = [Notice(code, text, tuple(sorted(on))) for (code, text), on in pages.items()]
    merged.sort(key=lambda notice: (notice.pages[:1], notice.code))
    seen: Counter[str] = Counter()
    kept = []
    for notice in merged:
        seen[notice.code] += 1
        if seen[notice.code] <= _MOST_OF_A_KIND:
            kept.append(notice)
    more = [
        Notice(code, f"There are {count - _MOST_OF_A_KIND} more warnings of this kind.")
        for code, count in seen.items()
        if count > _MOST_OF_A_KIND
    ]
    return (*kept, *more)


def unread_pages(parsed: ParsedDocument) -> tuple[int, ...]:
    """The pages of which the file holds a picture but no text, or that the parser never gave."""
    without_text = {
        page
        for notice in parsed.warnings
        if notice.code == "pages_without_text"
        for page in notice.pages
    }
    given = {page.number for page in parsed.pages}
    declared = max([*given, _declared(parsed), 0])
    missing = set(range(1, declared + 1)) - given if given or _declared(parsed) else set()
    return tuple(sorted(without_text | missing))


def _declared(parsed: ParsedDocument) -> int:
    """How many pages the file says that it has, where the parser tells."""
    told = parsed.metadata.get("page_count", "")
    return int(told) if told.isascii() and told.isdigit() and len(told) <= 6 else 0


def coverage_notices(processed: ProcessedDocument) -> tuple[Notice, ...]:
    """A warning where less than 98 % of the text is in passages or headings."""
    share = coverage(processed)
    if share >= LEAST_COVERAGE:
        return ()
    message = (
        f"Only {share:.0%} of the text of the file can be found in passages. Compare the sections "
        "below with the file, and upload it in another format if something is missing."
    )
    return (Notice("low_coverage", message),)


def coverage(processed: ProcessedDocument) -> float:
    """The share of the characters, blanks apart, that stand in a passage or a heading."""
    text = processed.parsed.text
    spans = [(chunk.start, chunk.end) for chunk in processed.chunks]
    spans += [(section.start, section.body_start) for section in processed.sections]
    total = _visible(text)
    kept = sum(_visible(text[start:end]) for start, end in _united(spans))
    return kept / total if total else 1.0


def _visible(text: str) -> int:
    return sum(map(len, text.split()))


def _united(spans: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """The spans in order, those that meet made one."""
    at = 0
    for start, end in sorted(spans):
        if end > at:
            yield max(start, at), end
            at = end
