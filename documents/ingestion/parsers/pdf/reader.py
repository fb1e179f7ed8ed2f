"""A PDF from its bytes to canonical text, blocks and pages.

Two passes: each page is read and laid out alone, then closed; what repeats over pages, the
usual type and the words of the document are known only after the last, so running heads, notes,
paragraphs and headings are found then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from documents.errors import ParseError
from documents.ingestion.parsers.pdf.assemble import Assembler
from documents.ingestion.parsers.pdf.blocks import Note, Paragraph
from documents.ingestion.parsers.pdf.columns import Region, reading_order
from documents.ingestion.parsers.pdf.extract import OutlineEntry, PdfFile
from documents.ingestion.parsers.pdf.headings import mark_headings
from documents.ingestion.parsers.pdf.hyphens import HyphenJudge
from documents.ingestion.parsers.pdf.items import mark_items
from documents.ingestion.parsers.pdf.layout import PageLayout, body_size, lay_out, pitches
from documents.ingestion.parsers.pdf.lines import text_of
from documents.ingestion.parsers.pdf.notes import begins_raised, cited_marks, note_mark, split_notes
from documents.ingestion.parsers.pdf.page import Line, Word
from documents.ingestion.parsers.pdf.paragraphs import Setting, build_paragraphs
from documents.ingestion.parsers.pdf.recognised import lay_out_recognised
from documents.ingestion.parsers.pdf.rows import TableRows
from documents.ingestion.parsers.pdf.running import EdgePage, running_lines
from documents.ingestion.parsers.pdf.weave import Weaver
from documents.ingestion.parsers.progress import Progress
from documents.records import BlockKind, RecognisedPage

MAX_CHARACTERS = 30_000_000
_TOO_LONG = "The PDF holds more text than can be read. Split it and upload the parts."


_NoteLines = tuple[int, str, list[tuple[int, Line]]]  # page, mark, lines with their pages


@dataclass(slots=True)
class ReadText:
    """The text of a PDF with the pages that it came from."""

    assembler: Assembler
    layouts: list[PageLayout]
    paragraphs: list[Paragraph]
    damaged: tuple[int, ...]
    body_size: float
    aside: list[Line] = field(default_factory=list)


def read_layouts(
    file: PdfFile,
    progress: Progress,
    typed: Mapping[int, Sequence[Word]],
    recognised: Sequence[RecognisedPage] = (),
) -> tuple[list[PageLayout], tuple[int, ...]]:
    """Lay out each page; also the numbers of those that cannot be opened.

    `typed` holds the words that stand in form fields, by page; `recognised` those read from
    images, which are used where a page has no text of its own.

    Raises:
        ParseError: `refused` when there is more text than any policy has.
    """
    layouts, damaged, letters = [], [], 0
    from_images = {page.number: page for page in recognised}
    for number in range(1, file.page_count + 1):
        seen = file.page_and_ink(number)
        if seen is None:
            damaged.append(number)
        else:
            layout = lay_out(*seen, typed.get(number, ()))
            if layout.is_unread and number in from_images:
                layout = lay_out_recognised(seen[0], from_images[number])
            layouts.append(layout)
            letters += layouts[-1].letters
            if letters > MAX_CHARACTERS:
                raise ParseError(_TOO_LONG, code="refused")
        progress(number, file.page_count)
    return layouts, tuple(damaged)


def read_text(
    layouts: list[PageLayout], damaged: tuple[int, ...], outline: Sequence[OutlineEntry]
) -> ReadText:
    """Put the pages together."""
    size = body_size(layouts)
    _drop_running(layouts)
    pages, note_lines = _ordered(layouts, size)
    paragraphs = build_paragraphs(
        pages, Setting(pitches(region.lines for _, regions in pages for region in regions))
    )
    weaver = Weaver(HyphenJudge(_texts(layouts)), {(page, mark) for page, mark, _ in note_lines})
    notes = [_note(page, mark, lines, weaver) for page, mark, lines in note_lines]
    paragraphs = list(_woven(paragraphs, weaver))
    _add_aside(paragraphs, layouts, weaver)
    mark_items(paragraphs)
    mark_headings(paragraphs, outline, size)
    assembler = Assembler({layout.number: layout.turn for layout in layouts})
    _assemble(assembler, paragraphs, notes)
    return ReadText(assembler, layouts, paragraphs, damaged, size)


def _drop_running(layouts: Sequence[PageLayout]) -> None:
    edges = [
        EdgePage(layout.number, layout.turn.turned_height, layout.lines, layout.label)
        for layout in layouts
    ]
    for layout, indexes in zip(layouts, running_lines(edges), strict=True):
        layout.lines = [line for i, line in enumerate(layout.lines) if i not in indexes]
        kept = sum(c.isalnum() for line in layout.lines for w in line.words for c in w.text)
        if indexes and not any(line.table for line in layout.lines):
            layout.letters = kept


def _ordered(
    layouts: Sequence[PageLayout], size: float
) -> tuple[list[tuple[int, list[Region]]], list[_NoteLines]]:
    """The regions of each page in reading order, and the notes at their foot."""
    pages: list[tuple[int, list[Region]]] = []
    notes: list[_NoteLines] = []
    for layout in layouts:
        cited = cited_marks(layout.lines)
        regions = []
        for region in reading_order(layout.lines):
            rest, note_lines = split_notes(region, size, cited, layout.turn.turned_height)
            regions.append(rest)
            for mark, group in _grouped(note_lines, cited):
                placed = [(layout.number, line) for line in group]
                if mark or not notes:
                    notes.append((layout.number, mark, placed))
                else:
                    notes[-1][2].extend(placed)  # a note that began in the column before
        pages.append((layout.number, regions))
    return pages, notes


def _grouped(lines: Sequence[Line], cited: set[str]) -> Iterator[tuple[str, list[Line]]]:
    """The lines of each note with its mark; "" for what goes on from the column before."""
    are_raised = any(begins_raised(line) for line in lines)
    mark, group = "", list[Line]()
    for line in lines:
        own = note_mark(line)
        begins = begins_raised(line) if are_raised else own in cited
        if own is not None and begins and own != mark:
            if group:
                yield mark, group
            mark, group = own, []
        group.append(line)
    if group:
        yield mark, group


def _texts(layouts: Sequence[PageLayout]) -> Iterator[str]:
    for layout in layouts:
        for line in layout.lines:
            if line.words:
                yield text_of(line)


def _note(page: int, mark: str, lines: list[tuple[int, Line]], weaver: Weaver) -> Note:
    paragraph = Paragraph(BlockKind.FOOTNOTE, lines=lines)
    weaver.weave(paragraph)
    return Note(page, mark, paragraph)


def _woven(paragraphs: Sequence[Paragraph], weaver: Weaver) -> Iterator[Paragraph]:
    rows, was_table = TableRows(weaver), False
    for paragraph in paragraphs:
        if paragraph.table is None:
            weaver.weave(paragraph)
            was_table = False
            yield paragraph
        else:
            yield from rows.rows(paragraph.table, is_next=was_table)
            was_table = True


def _add_aside(paragraphs: list[Paragraph], layouts: Sequence[PageLayout], weaver: Weaver) -> None:
    """Text that runs another way follows its page, once if it comes back on every page."""
    seen: set[str] = set()
    for layout in layouts:
        for line in layout.aside:
            text = text_of(line)
            if text in seen or not any(c.isalnum() for c in text):
                continue
            seen.add(text)
            paragraph = Paragraph(lines=[(layout.number, line)])
            weaver.weave(paragraph)
            at = next(
                (i for i, p in enumerate(paragraphs) if p.lines and p.page > layout.number),
                len(paragraphs),
            )
            paragraphs.insert(at, paragraph)


def _assemble(assembler: Assembler, paragraphs: Sequence[Paragraph], notes: Sequence[Note]) -> None:
    """Each note after the paragraph or table that first cites it; others at their page's end."""
    waiting = {id(note): note for note in notes}
    for index, paragraph in enumerate(paragraphs):
        following = paragraphs[index + 1] if index + 1 < len(paragraphs) else None
        cites = set(paragraph.cites)
        due = [note for note in waiting.values() if (note.page, note.mark) in cites]
        if following is None or (
            following.lines and paragraph.lines and following.page > paragraph.page
        ):
            due += [
                note
                for note in waiting.values()
                if note not in due and note.page <= paragraph.page and following is not None
            ]
        for note in due:
            del waiting[id(note)]
        assembler.add(paragraph, due)
    for note in waiting.values():
        assembler.add(note.paragraph)
