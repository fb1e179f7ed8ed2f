"""What a person should know of a PDF: pages without text, broken letters, damage; its title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from documents.errors import ParseError
from documents.ingestion.parsers.pdf.layout import PageLayout
from documents.ingestion.parsers.pdf.markers import is_closed, opens_clause
from documents.ingestion.parsers.pdf.reader import ReadText
from documents.ingestion.parsers.pdf.safety import Inspection
from documents.records import Notice

_MANY_BROKEN = 0.02  # of a page's letters
_LOW_CONFIDENCE = 0.85  # clean print measures above 0.9, what a person doubts below 0.8
_MAX_NAMED = 12
_MAX_TITLE = 200
_NO_TITLE = re.compile(
    r"(?:\(?anonymous\)?|unspecified|microsoft (?:word|powerpoint|excel)\b.*|untitled.*|"
    r"document ?\d*|.*\.\w{2,5}|\W*|title|(?:\w+ ?){1}|.*[/\\].*|slide \d+|print.*|"
    r"layout \d+|scan\w*)",
    re.IGNORECASE,
)
_FINAL_LETTERS = frozenset("םןץףך")
_HEBREW = re.compile("[\u05d0-\u05ea]{2,}")
_ARABIC = re.compile("[\u0620-\u064a]{3,}")


def check_has_text(layouts: Sequence[PageLayout], inspection: Inspection) -> None:
    """Refuse a file whose pages are mostly images.

    Raises:
        ParseError: `needs_ocr` with the pages, or `refused` where damage left nothing to read.
    """
    unread = [layout.number for layout in layouts if layout.is_unread]
    full = [layout for layout in layouts if not layout.is_blank]
    if unread and 2 * len(unread) >= len(full):
        message = _needs_ocr(unread, len(full))
        raise ParseError(message, code="needs_ocr", pages=tuple(unread))
    if not full and (inspection.is_truncated or inspection.is_damaged):
        message = "The PDF is damaged: no text can be read from it. Save it again and upload it."
        raise ParseError(message, code="refused")


def _needs_ocr(unread: Sequence[int], count: int) -> str:
    which = "No page has" if len(unread) == count else f"{_named(unread)} have no"
    what = which + (" a text layer" if len(unread) == count else " text layer")
    return (
        f"{what}: the PDF holds images of pages ({_named(unread)}). Run text recognition (OCR) "
        "on it, or upload a version with text."
    )


def warnings(read: ReadText, inspection: Inspection) -> tuple[Notice, ...]:
    """The notices of a file, its inspection's first."""
    return (*inspection.warnings, *_notices(read, inspection))


def _notices(read: ReadText, inspection: Inspection) -> Iterator[Notice]:
    known = {notice.code for notice in inspection.warnings}
    unread = tuple(layout.number for layout in read.layouts if layout.is_unread)
    if unread:
        message = f"{_named(unread)}: no text layer, so nothing on these pages can be found."
        yield Notice("pages_without_text", message, unread)
    if (read.damaged or inspection.is_truncated) and "truncated_file" not in known:
        message = (
            "The file is damaged or cut off: text may be missing. Check it, or upload it again."
        )
        yield Notice("truncated_file", message, read.damaged)
    broken = tuple(
        layout.number
        for layout in read.layouts
        if layout.broken > max(3, _MANY_BROKEN * layout.letters)
    )
    if broken:
        message = (
            f"{_named(broken)}: a font does not say which letters it shows, so the text may be "
            "wrong. Check it, or upload a version with text."
        )
        yield Notice("broken_characters", message, broken)
    yield from _recognition(read.layouts)
    lost = tuple(layout.number for layout in read.layouts if layout.has_lost_table)
    if lost:
        message = f"{_named(lost)}: a table could not be understood; check its figures."
        yield Notice("table_lost", message, lost)
    if "hidden_text" not in known and any(layout.hidden for layout in read.layouts):
        pages = tuple(layout.number for layout in read.layouts if layout.hidden)
        message = f"{_named(pages)}: text that a person does not see; it is kept apart."
        yield Notice("hidden_text", message, pages)
    if _is_reversed(read.assembler.text()):
        message = "Right-to-left text seems to be stored backwards and cannot be searched."
        yield Notice("unreadable_rtl", message)


def _recognition(layouts: Sequence[PageLayout]) -> Iterator[Notice]:
    """What was read from images: all of it is said, and apart what is doubtful."""
    read = {layout.number: layout.ocr_confidence or 0.0 for layout in layouts if layout.letters
            and layout.ocr_confidence is not None}  # fmt: skip
    doubtful = tuple(number for number, sure in read.items() if sure < _LOW_CONFIDENCE)
    empty = tuple(
        layout.number
        for layout in layouts
        if layout.ocr_confidence is not None and not layout.letters
    )
    if read:
        mean = sum(read.values()) / len(read)
        message = (
            f"{_named(tuple(read))}: read from images by text recognition, {mean:.0%} sure. "
            "Compare names, amounts and dates with the pages."
        )
        yield Notice("read_by_ocr", message, tuple(read))
    if doubtful:
        message = (
            f"{_named(doubtful)}: text recognition is unsure of many words. Scan them again in "
            "better quality, or upload a version with text."
        )
        yield Notice("low_confidence_ocr", message, doubtful)
    if empty:
        message = f"{_named(empty)}: pictures in which text recognition found no words."
        yield Notice("pages_without_text", message, empty)


def _is_reversed(text: str) -> bool:
    """Whether right-to-left words begin as they should end."""
    words: list[str] = _HEBREW.findall(text)
    wrong = sum(word[0] in _FINAL_LETTERS for word in words)
    right = sum(word[-1] in _FINAL_LETTERS for word in words)
    arabic: list[str] = _ARABIC.findall(text)
    wrong += sum(word.endswith("لا") for word in arabic)
    right += sum(word.startswith("ال") for word in arabic)
    return wrong > 2 and wrong > right


def _named(pages: Sequence[int]) -> str:
    shown = ", ".join(str(page) for page in pages[:_MAX_NAMED])
    more = f" and {len(pages) - _MAX_NAMED} more" if len(pages) > _MAX_NAMED else ""
    return f"{'Page' if len(pages) == 1 else 'Pages'} {shown}{more}"


def title(metadata: Mapping[str, str], read: ReadText) -> str | None:
    """The title that the file names, if it is one; else the largest words of the first page."""
    named = " ".join(metadata.get("title", "").split())
    first = [p for p in read.paragraphs if p.table is None and p.lines and p.page == 1]
    first = [p for p in first if p.lines[0][1].words[0].rotation == 0 and not is_closed(p.text())]
    shown = _key("".join(p.text() for p in first))
    is_shown = len(named) > 3 and _key(named) in shown
    if 0 < len(named) <= _MAX_TITLE and (is_shown or not _NO_TITLE.fullmatch(named)):
        return named
    large = [p for p in first if p.size > 1.05 * read.body_size and 2 < len(p.text()) <= _MAX_TITLE]
    if not large:
        return None
    size = max(p.size for p in large)
    begun = next(i for i, p in enumerate(first) if p.size == size)
    lines = [p.text() for p in takewhile(lambda p: p.size == size, first[begun : begun + 4])]
    largest = " ".join(lines) if len(" ".join(lines)) <= _MAX_TITLE else lines[0]
    return None if opens_clause(largest) else largest


def _key(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def language_code(named: str | None) -> str | None:
    """The language that a file names (`en-GB`) as the product writes it."""
    found = re.match(r"([a-z]{2})(?:[-_]|$)", (named or "").casefold())
    if found is None:
        return None
    if found.group(1) == "zh":
        is_simplified = re.search(r"hans|cn|sg", named or "", re.IGNORECASE)
        return "zh-Hans" if is_simplified else "zh-Hant"
    return found.group(1)
