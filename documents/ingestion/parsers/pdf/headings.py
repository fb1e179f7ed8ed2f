"""Which paragraphs are headings, as far as their look, their tags and the outline are sure.

The structure step decides by numbering; a heading is named here only where the document's own
typography or its author says so. A line in bold alone, in a document that sets its headings in
no larger type, is flagged `bold`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import takewhile

from documents.ingestion.parsers.pdf.blocks import Paragraph
from documents.ingestion.parsers.pdf.extract import OutlineEntry
from documents.ingestion.parsers.pdf.markers import is_closed, opens_item
from documents.ingestion.parsers.pdf.paragraphs import is_bold, is_contents_entry
from documents.records import BlockKind

_LARGER = 1.1
_MAX_LENGTH = 180
_MAX_LINES = 4
_MAX_SHARE = 0.3  # of the text: what is more is not set off
_LEADERS = re.compile(r"(?:\.\s?){4,}|…{2,}|_{4,}")
_TAGGED = re.compile(r"H([1-6])$")
_MAX_LEVEL = 6
_MAX_TITLE = 3  # paragraphs
_CONTENTS = re.compile(r"(?:table of )?contents|(?:目\s*[錄录次])", re.IGNORECASE)

Style = tuple[float, bool]


def mark_headings(
    paragraphs: Sequence[Paragraph], outline: Sequence[OutlineEntry], body_size: float
) -> None:
    """Set kind, level and flags of the paragraphs that are headings."""
    texts = [p for p in paragraphs if p.table is None and p.kind is BlockKind.PARAGRAPH]
    for paragraph in texts:
        if all(is_bold(line) for _, line in paragraph.lines):
            paragraph.flags.add("bold")
    candidates = [p for p in texts if _may_be(p) and not is_contents_entry(p.lines[-1][1])]
    candidates = candidates[_title_length(candidates, body_size) :]
    if _by_tags(candidates, texts) or _by_outline(candidates, outline):
        return
    _by_size(candidates, texts, body_size)


def _may_be(paragraph: Paragraph) -> bool:
    text = paragraph.text()
    return (
        len(paragraph.lines) <= _MAX_LINES
        and paragraph.lines[0][1].words[0].rotation == 0
        and len(text) <= _MAX_LENGTH
        and any(c.isalpha() for c in text)
        and not _LEADERS.search(text)
        and not text.endswith((",", ";"))
        and not opens_item(text)
        and not _CONTENTS.fullmatch(text.rstrip(":"))
    )


def _title_length(candidates: Sequence[Paragraph], body_size: float) -> int:
    """How many paragraphs make the title of the document: it names no section.

    A title is the first heading of page 1, larger than any after it.
    """
    if not candidates or candidates[0].page != 1:
        return 0
    size = candidates[0].size
    count = sum(1 for _ in takewhile(lambda p: p.page == 1 and p.size == size, candidates))
    is_largest = all(p.size < size for p in candidates[count:])
    return count if is_largest and size >= _LARGER * body_size and count <= _MAX_TITLE else 0


def _by_tags(candidates: Sequence[Paragraph], texts: Sequence[Paragraph]) -> bool:
    """Take the levels of a tagged file, where its heading tags mark little of the text."""
    tagged = [(p, level) for p in candidates if (level := _tag_level(p)) is not None]
    share = sum(len(p.text()) for p, _ in tagged) / max(sum(len(p.text()) for p in texts), 1)
    if len(tagged) < 2 or share > _MAX_SHARE or len({level for _, level in tagged}) == 0:
        return False
    for paragraph, level in tagged:
        _make(paragraph, level)
    return True


def _tag_level(paragraph: Paragraph) -> int | None:
    tags = {word.tag for _, line in paragraph.lines for word in line.words}
    found = [_TAGGED.match(tag or "") for tag in tags]
    if len(tags) == 1 and found[0]:
        return int(found[0].group(1))
    return 1 if tags == {"Title"} else None


def _by_outline(candidates: Sequence[Paragraph], outline: Sequence[OutlineEntry]) -> bool:
    """Take the levels of bookmarks that name paragraphs of their page."""
    by_key: dict[str, list[Paragraph]] = defaultdict(list)
    for paragraph in candidates:
        by_key[_key(paragraph.text())].append(paragraph)
    styles: dict[Style, Counter[int]] = defaultdict(Counter)
    matched = 0
    for entry in outline:
        near = [
            p for p in by_key.get(_key(entry.title), [])
            if p.kind is BlockKind.PARAGRAPH
            and (entry.page is None or entry.page <= p.page <= entry.page + 1)
        ]  # fmt: skip
        if near:
            matched += 1
            _make(near[0], entry.level)
            styles[_style(near[0])][min(entry.level, _MAX_LEVEL)] += 1
    if matched < 3 or matched < 0.5 * len(outline):
        for paragraph in candidates:
            paragraph.kind, paragraph.level = BlockKind.PARAGRAPH, None
        return False
    return True


def _by_size(candidates: Sequence[Paragraph], texts: Sequence[Paragraph], body_size: float) -> None:
    lengths: Counter[float] = Counter()
    for paragraph in texts:
        lengths[_bucket(paragraph.size)] += len(paragraph.text())
    total = max(sum(lengths.values()), 1)
    larger = [
        p for p in candidates
        if p.size >= _LARGER * body_size
        and lengths[_bucket(p.size)] <= _MAX_SHARE * total
        and not (is_closed(p.text()) and len(p.text()) > 60)
    ]  # fmt: skip
    sizes = sorted({_bucket(p.size) for p in larger}, reverse=True)
    for paragraph in larger:
        _make(paragraph, sizes.index(_bucket(paragraph.size)) + 1)


def _make(paragraph: Paragraph, level: int) -> None:
    paragraph.kind = BlockKind.HEADING
    paragraph.level = min(level, _MAX_LEVEL)


def _style(paragraph: Paragraph) -> Style:
    return _bucket(paragraph.size), "bold" in paragraph.flags


def _bucket(size: float) -> float:
    return round(size * 2) / 2


def _key(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
