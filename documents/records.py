"""Frozen records that the ingestion steps hand to one another.

parse -> ParsedDocument -> structure -> SectionRecord… -> chunk -> ChunkRecord…
-> screen -> FindingRecord…. Offsets are counted in characters of the canonical text
(`ParsedDocument.text`), half open: `text[start:end]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class MediaType(StrEnum):
    """The formats that have a parser; chosen by content, never by name alone."""

    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    HTML = "text/html"
    MARKDOWN = "text/markdown"
    PLAIN = "text/plain"
    LAW_JSON = "application/json"  # a statute in the layout of Taiwan's law database


class BlockKind(StrEnum):
    """What a stretch of the source is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CODE = "code"
    QUOTE = "quote"
    FOOTNOTE = "footnote"


class ChunkKind(StrEnum):
    """What a clause does, by its grammar."""

    DEFINITION = "definition"
    OBLIGATION = "obligation"
    PROHIBITION = "prohibition"
    PERMISSION = "permission"
    RIGHT = "right"
    PROCEDURE = "procedure"
    GENERAL = "general"


class Severity(StrEnum):
    """How sure a screening rule is that a passage must wait for a person."""

    BLOCK = "block"  # quarantined
    NOTICE = "notice"  # recorded and shown to the reviewer, does not hold the chunk


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the owner should know about a file: a stable code and a sentence.

    `pages` names the pages that it is about, counted from 1; empty: the whole file.
    """

    code: str
    message: str
    pages: tuple[int, ...] = ()


# Left, top, right, bottom in points (1/72 inch) from the page's upper left corner, as shown.
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, item, row or fence of the canonical text.

    `level` counts from 1 for headings that the format itself marks (Markdown `#`, a heading
    style or outline level, an outline entry, a font larger than the body's), otherwise None.
    `page` is that of the first character, counted from 1, and `box` what it covers there, where
    the format has pages. `flags` names style facts: `bold`, `italic`, `struck`, `continued`,
    `white`, `tiny`, `off_page`, `ocr`. `number` is the label that the format computes for a
    heading or item (Word, HTML) in its full form (`1.2(b)(i)`); the text holds it as printed.
    """

    kind: BlockKind
    start: int
    end: int
    level: int | None = None
    page: int | None = None
    flags: frozenset[str] = frozenset()
    box: Box | None = None
    number: str | None = None


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Text a person does not see (hidden, white, tiny, off the page): screened, never shown.

    `where` says how it hides: "comment", "hidden", "white", "tiny", "off_page", "behind",
    "metadata", "alt_text", "link_title", "header", "footer", "annotation", "form_field",
    "no_script" (what a browser shows in place of a script).
    """

    text: str
    where: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ActiveContent:
    """Something in a file that acts or carries: a script, a macro, a remote template.

    `kind` is a stable name ("javascript", "launch", "macro", "remote_template", "embedded_file",
    "ole_object", "external_link", "form_submit", "rich_media"); `detail` is its name or target,
    as found. One that `is_dangerous` holds the version for a person, others are a warning.
    """

    kind: str
    detail: str
    is_dangerous: bool
    page: int | None = None


@dataclass(frozen=True, slots=True)
class WordBox:
    """Where a word of the canonical text stands on its page: `text[start:end]` and its box."""

    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One page of a file that has pages, with the boxes of the words taken from it.

    `number` counts from 1 and `label` is what the document itself calls the page (`iv`). Width
    and height are in points, as shown (rotation applied). `words` are ordered by `start`.
    `ocr_confidence` is the mean word confidence, 0 to 1, where the page was read by OCR.
    """

    number: int
    width: float
    height: float
    words: tuple[WordBox, ...] = ()
    label: str | None = None
    ocr_confidence: float | None = None


@dataclass(frozen=True, slots=True)
class RecognisedWord:
    """A word that was read from the image of a page; words of one line share its `line`.

    The box is in points from the page's upper left corner, the confidence 0 to 1.
    """

    text: str
    box: Box
    confidence: float
    line: int


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """What text recognition read on one page, in reading order; `number` counts from 1."""

    number: int
    words: tuple[RecognisedWord, ...]

    @property
    def confidence(self) -> float:
        """The mean confidence of the words, weighted by their length; 0 without words."""
        letters = sum(len(word.text) for word in self.words)
        total = sum(word.confidence * len(word.text) for word in self.words)
        return total / letters if letters else 0.0


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The canonical text of a file with its blocks, in reading order."""

    media_type: MediaType
    text: str
    blocks: tuple[Block, ...]
    title: str | None = None
    language: str | None = None  # "en", "zh-Hant", "zh-Hans", other ISO 639-1; None: unknown
    encoding: str | None = None
    warnings: tuple[Notice, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[HiddenText, ...] = ()
    pages: tuple[PageRecord, ...] = ()
    active_content: tuple[ActiveContent, ...] = ()
    source_links: tuple[SourceLink, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceLink:
    """The official address of a stretch of the text, such as an article of a statute."""

    start: int
    end: int
    url: str


@dataclass(frozen=True, slots=True)
class ClauseRecord:
    """A labelled clause below the level of sections, so that it can be cited: `4(i)(ii)`.

    `label` is the whole label, its section's number first (`1.2(b)(i)`, `第五十三條第二項第一款`);
    `marker` what is printed before the clause (`(i)`), or None where it is counted (Chinese
    paragraphs, 項). The clause is `text[start:end]`, marker and sub-clauses included.
    """

    section: int
    label: str
    marker: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReferenceRecord:
    """A place where the text names another clause of the same document: `see 4.3`.

    `target` is the ordinal of the section that is meant; `label` of the clause in it, where one
    is named. The words are `text[start:end]`.
    """

    start: int
    end: int
    target: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class SectionRecord:
    """One section's own stretch of text: from its heading to the next heading of any level.

    Sections do not overlap and together cover the whole text. `parent` is the `ordinal` of
    the enclosing section. `number` is as printed, without a trailing dot (`4.3`, `Annex A`,
    `第五十三條之一`). `title` is the heading's own words; a numbered line that is a whole clause
    has none, and `display_title` is then its parent's heading, never the clause. `path` holds
    the headings from the root down to and including this section (`("4 Leave", "4.2
    Carry-over")`); for an untitled clause its last entry is the number alone. The heading line
    is `text[start:body_start]`; for an untitled clause `body_start == start`, since the line is
    the clause.
    """

    ordinal: int
    parent: int | None
    level: int
    number: str | None
    title: str | None
    display_title: str
    path: tuple[str, ...]
    start: int
    body_start: int
    end: int
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """An exact slice of the canonical text, inside one section.

    `text == document.text[start:end]`. Chunks of one section may overlap by one sentence;
    `overlap` is how many leading characters repeat the chunk before. `section` is the
    section's ordinal. `tokens` is counted with the embedder's tokenizer.
    """

    ordinal: int
    section: int
    kind: ChunkKind
    text: str
    start: int
    end: int
    tokens: int
    overlap: int = 0
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """A passage that speaks to an AI system or hides from a person.

    `start` and `end` are offsets into the text that was screened: the canonical text where
    `where` is `body` or `heading`, else the title, file name or hidden text itself. `text` is
    the matched original, `folded` what the rule saw. `chunks` holds the ordinals it touches.
    """

    rule: str
    severity: Severity
    start: int
    end: int
    text: str
    folded: str
    where: str = "body"
    chunks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProcessedDocument:
    """Everything the pure steps say about one file."""

    parsed: ParsedDocument
    sections: tuple[SectionRecord, ...]
    chunks: tuple[ChunkRecord, ...]
    findings: tuple[FindingRecord, ...]
    clauses: tuple[ClauseRecord, ...] = ()
    references: tuple[ReferenceRecord, ...] = ()
