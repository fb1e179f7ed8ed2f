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

    MARKDOWN = "text/markdown"
    PLAIN = "text/plain"


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
    """Something the owner should know about a file: a stable code and a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, item, row or fence of the canonical text.

    `level` is 1 to 6 for headings that the format itself marks (Markdown `#`, setext),
    otherwise None. `page` counts from 1 where the format has pages. `flags` names style
    facts such as `hidden`.
    """

    kind: BlockKind
    start: int
    end: int
    level: int | None = None
    page: int | None = None
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Text a person does not see (comments, hidden elements): screened, never shown."""

    text: str
    where: str  # "comment", "hidden", "metadata", "alt_text", "link_title"


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
