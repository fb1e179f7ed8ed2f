"""A statute of Taiwan's law database: one law as JSON, in each of the layouts it is handed out in.

The Ministry of Justice's own files name their keys in English (`LawName`, `LawArticles`; the
translations put `Eng` before them) and hold one law or a list of laws; the collection that
splits them by law keeps Chinese keys (`法規名稱`, `法規內容`). Both become the same document:
the title, headings for 編, 章, 節, 款 and 目, then each article under its exact number, with one
line for each paragraph and item. Dates and history are metadata, since they are no part of the
law; each article is tied to its official page where the file says which law it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from documents.errors import ParseError
from documents.ingestion.numbering import parse_label
from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.scripts import detect_language
from documents.ingestion.parsers.writer import LINE_GAP, PARAGRAPH_GAP, TextWriter
from documents.records import Block, BlockKind, MediaType, Notice, ParsedDocument, SourceLink

_CHINESE_KEYS = {
    "法規名稱": "LawName", "英文法規名稱": "EnglishName", "法規網址": "LawURL",
    "法規編號": "pcode", "法規性質": "LawLevel", "法規類別": "LawCategory",
    "最新異動日期": "LawModifiedDate", "生效日期": "LawEffectiveDate",
    "生效內容": "LawEffectiveNote", "廢止註記": "LawAbandonNote", "沿革內容": "LawHistories",
    "前言": "LawForeword", "法規內容": "LawArticles", "附件": "LawAttachments",
    "條號": "ArticleNo", "條文內容": "ArticleContent", "條文": "ArticleContent",
    "內容": "ArticleContent", "編章節": "Heading", "編章節名稱": "Heading", "章節": "Heading",
}  # fmt: skip
_OTHER_KEYS = {"LawAttachements": "LawAttachments", "EngLawName": "EnglishName"}
_ENGLISH_KEY = re.compile(r"^Eng(?=Law|Article)")
_METADATA = {
    "LawLevel": "kind", "LawCategory": "category", "EnglishName": "english_title",
    "LawEffectiveNote": "effective_note", "LawAbandonNote": "abandoned",
    "LawHistories": "history",
}  # fmt: skip
_UNITS = "編章節款目"
_ENGLISH_UNITS = ("part", "chapter", "section", "subsection", "item")
_CONTAINER = re.compile(
    rf"第[^\S\n]*\S+?[^\S\n]*(?P<unit>[{_UNITS}])"
    rf"|(?P<word>{'|'.join(_ENGLISH_UNITS)})\b",
    re.IGNORECASE,
)
_TITLE_LEVEL = 1
_ARTICLE_LEVEL = _TITLE_LEVEL + len(_UNITS) + 1
_ITEM = re.compile(
    r"[一二三四五六七八九十百]{1,4}[、．]|[（(][一二三四五六七八九十]{1,3}[）)]"
    r"|[（(]?\d{1,2}[.、．)）]|\([a-z]{1,4}\)|[a-z]\.\s"
)
_DRAWN = re.compile("[─-╿]{2}|[│┃║].*[│┃║]")  # a table drawn with lines
_PCODE = re.compile(r"\b(?:pcode=)?(?P<pcode>[A-Z]\d{7})\b", re.IGNORECASE)
_NOT_YET = date(9999, 12, 31)  # how the database writes "on a date that is still to be set"
_SITE = "https://law.moj.gov.tw"
_SPLIT = "Split it by law and upload each law as a file of its own."

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Part:
    """A heading (`number` None) or an article of the law."""

    number: str | None
    content: str


def parse_law(decoded: Decoded) -> ParsedDocument:
    """Read one law.

    Raises:
        ParseError: `refused` where the file is no JSON, no law, or several laws.
    """
    law = _one_law(decoded.text)
    writer = TextWriter()
    title = _title(law)
    links = _write(writer, law, title)
    text = writer.text()
    return ParsedDocument(
        media_type=MediaType.LAW_JSON,
        text=text,
        blocks=tuple(writer.blocks),
        title=title or None,
        language=detect_language(text),
        encoding=decoded.encoding,
        warnings=decoded.warnings + tuple(_warnings(law)),
        metadata=_metadata(law),
        source_links=tuple(links),
    )


# Reading the file.


def _one_law(text: str) -> Record:
    try:
        loaded: object = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError) as error:
        message = "The file is no valid JSON. Download it again from the law database."
        raise ParseError(message, code="refused") from error
    laws = list(_laws(loaded))
    if len(laws) > 1:
        raise ParseError(f"The file holds {len(laws)} laws. {_SPLIT}", code="refused")
    if not laws:
        message = "The file holds no law in a layout of the law database."
        raise ParseError(message, code="refused")
    return laws[0]


def _laws(loaded: object) -> Iterator[Record]:
    if isinstance(loaded, list):
        for entry in loaded:
            yield from _laws(entry)
    elif isinstance(loaded, dict):
        if isinstance(loaded.get("Laws"), list):
            yield from _laws(loaded["Laws"])
        else:
            law = _tidy_keys(loaded)
            if isinstance(law.get("LawArticles"), list):
                yield law


def _tidy_keys(record: Mapping[object, object]) -> Record:
    """One name for each key, whichever the layout; what is empty gives way to what is not."""
    tidy: dict[str, object] = {}
    for key, value in record.items():
        name = str(key).strip()
        name = _CHINESE_KEYS.get(name) or _OTHER_KEYS.get(name) or _ENGLISH_KEY.sub("", name)
        tidy[name] = value or tidy.get(name)
    return tidy


def _text(record: Record, key: str) -> str:
    """A value as clean text; JSON escapes can name characters that no text may hold."""
    value = record.get(key)
    if not isinstance(value, str | int):
        return ""
    clean = str(value).encode("utf-8", "ignore").decode().replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in clean if char >= " " or char in "\n\t").strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _title(law: Record) -> str:
    name, english = _one_line(_text(law, "LawName")), _one_line(_text(law, "EnglishName"))
    first = next((part.number for part in _parts(law) if part.number), "")
    return (english or name) if first.isascii() and first else (name or english)


def _parts(law: Record) -> Iterator[_Part]:
    entries = law.get("LawArticles")
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        record = _tidy_keys(entry)
        content, number = _text(record, "ArticleContent"), _one_line(_text(record, "ArticleNo"))
        heading = _text(record, "Heading")
        if heading:
            yield _Part(None, heading)
        if number or (content and _text(record, "ArticleType").upper() == "A"):
            yield _Part(number, content)
        elif content:
            yield _Part(None, content)


# Writing the document.


def _write(writer: TextWriter, law: Record, title: str) -> list[SourceLink]:
    links: list[SourceLink] = []
    pcode = _pcode(law)
    if title:
        writer.add(BlockKind.HEADING, title, level=_TITLE_LEVEL)
        _link(links, writer.blocks, 0, _law_url(pcode, title))
    _write_lines(writer, _text(law, "LawForeword"))
    for part in _parts(law):
        first = len(writer.blocks)
        if part.number is None:
            for line in part.content.split("\n"):
                heading = _one_line(line)
                writer.add(BlockKind.HEADING, heading, level=_container_level(heading))
            continue
        writer.add(BlockKind.HEADING, part.number, level=_ARTICLE_LEVEL)
        _write_lines(writer, part.content)
        _link(links, writer.blocks, first, _article_url(pcode, part.number))
    return links


def _container_level(heading: str) -> int:
    match = _CONTAINER.match(heading)
    if match is None:
        return _TITLE_LEVEL + 1
    if match["unit"]:
        return _TITLE_LEVEL + 1 + _UNITS.index(match["unit"])
    return _TITLE_LEVEL + 1 + _ENGLISH_UNITS.index(match["word"].lower())


def _write_lines(writer: TextWriter, content: str) -> None:
    """One block for each line, a drawn table in one; lines of an article stand together."""
    gap = PARAGRAPH_GAP
    for kind, text in _line_groups(content):
        writer.add(kind, text, gap=gap)
        gap = LINE_GAP


def _line_groups(content: str) -> Iterator[tuple[BlockKind, str]]:
    drawn: list[str] = []
    for raw in content.split("\n"):
        if _DRAWN.search(raw):
            drawn.append(raw.rstrip())
            continue
        if drawn:
            yield BlockKind.CODE, "\n".join(drawn)
            drawn = []
        line = raw.strip()
        yield (BlockKind.LIST_ITEM if _ITEM.match(line) else BlockKind.PARAGRAPH), line
    if drawn:
        yield BlockKind.CODE, "\n".join(drawn)


def _link(links: list[SourceLink], blocks: list[Block], first: int, url: str | None) -> None:
    if url is not None and first < len(blocks):
        links.append(SourceLink(blocks[first].start, blocks[-1].end, url))


# Where the law stands on the official site.


def _pcode(law: Record) -> str | None:
    for key in ("LawURL", "pcode", "PCode", "LawPCode"):
        match = _PCODE.search(_text(law, key))
        if match is not None:
            return match["pcode"].upper()
    return None


def _law_url(pcode: str | None, title: str) -> str | None:
    if pcode is None:
        return None
    return f"{_SITE}{'/ENG' if title.isascii() else ''}/LawClass/LawAll.aspx?pcode={pcode}"


def _article_url(pcode: str | None, number: str) -> str | None:
    """The page of one article; the site has none for translated articles, so the whole law."""
    label = parse_label(number)
    if pcode is None or label is None:
        return None
    if number.isascii():
        return _law_url(pcode, number)
    flno = "-".join(str(part) for part in label.value)
    return f"{_SITE}/LawClass/LawSingle.aspx?pcode={pcode}&flno={flno}"


# What the owner should know.


def _metadata(law: Record) -> dict[str, str]:
    found = {name: _text(law, key) for key, name in _METADATA.items()}
    found["title"] = _title(law)
    effective, changed = _date(law, "LawEffectiveDate"), _date(law, "LawModifiedDate")
    found["effective"] = effective.isoformat() if effective and effective != _NOT_YET else ""
    found["last_changed"] = changed.isoformat() if changed else ""
    pcode = _pcode(law)
    found["pcode"] = pcode or ""
    found["url"] = _law_url(pcode, found["title"]) or ""
    found["attachments"] = ", ".join(_attachments(law))
    return {name: value for name, value in found.items() if value}


def _date(law: Record, key: str) -> date | None:
    digits = re.sub(r"\D", "", _text(law, key))
    try:
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return None


def _attachments(law: Record) -> list[str]:
    entries = law.get("LawAttachments")
    if isinstance(entries, str):
        return [_one_line(_text(law, "LawAttachments"))]
    records = [entry for entry in entries if isinstance(entry, dict)] if isinstance(
        entries, list
    ) else []  # fmt: skip
    return [name for record in records if (name := _one_line(_text(record, "FileName")))]


def _warnings(law: Record) -> Iterator[Notice]:
    if _text(law, "LawAbandonNote"):
        message = "The law database marks this law as repealed. Set the last day that it held."
        yield Notice("repealed", message)
    if _date(law, "LawEffectiveDate") == _NOT_YET:
        message = (
            "Some articles start on a day that was still to be set. Check the effective date; the "
            "metadata holds the database's own note on it."
        )
        yield Notice("effective_date_open", message)
    names = _attachments(law)
    if names:
        shown = ", ".join(names[:5])
        message = f"The law has {len(names)} attachments that this file does not hold: {shown}."
        yield Notice("attachments_apart", f"{message} Upload those that answers should draw on.")
