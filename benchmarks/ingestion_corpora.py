"""The files of the shared corpora, each with what an independent reader sees in it."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import html5lib
from lxml import etree
from pdfminer.high_level import extract_pages
from pdfminer.layout import LTTextContainer

_WORD_NS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_UNSEEN = frozenset(["script", "style", "head", "template", "noscript", "title"])
_KEPT = Path(__file__).resolve().parents[1] / "var" / "benchmarks" / "sources"
_UNKNOWN_GLYPH = re.compile(r"\(cid:\d+\)")
_MIN_PAGES = 3
_MARGIN = 1 / 7  # of a page's height, at the top and at the foot
_NEAR_POINTS = 4.0


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: its bytes and what is known about it from elsewhere.

    `source` is the text that a person sees in it. `is_twin`: the source is an edition of its
    own, not read from these bytes. `articles` are the numbers of a statute's articles.
    """

    name: str
    data: bytes
    source: str
    is_twin: bool = False
    articles: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line as pdfminer.six reads it; `top` is its distance from the top edge, in points."""

    page: int
    height: float
    top: float
    text: str

    @property
    def is_in_margin(self) -> bool:
        """Whether it stands where running heads and feet do."""
        return not _MARGIN <= self.top / self.height <= 1 - _MARGIN

    @property
    def key(self) -> str:
        """What is the same on each page; figures count as figures."""
        return re.sub(r"\d+", "#", " ".join(self.text.split()))


def policy_pdf_qa(shared: Path) -> Iterator[SourceFile]:
    """Handbooks and statutes as PDF, against the characters that pdfminer.six sees."""
    for path in sorted((shared / "policy-pdf-qa" / "pdf").glob("*.pdf")):
        yield _file(path)


def cuad_text(shared: Path) -> Iterator[SourceFile]:
    """Contracts as plain text."""
    for path in sorted((shared / "cuad" / "contracts").glob("*.txt")):
        yield _file(path)


def cuad_pdf(shared: Path) -> Iterator[SourceFile]:
    """The contracts that are PDF too, against their text twins."""
    for row in _rows(shared / "cuad" / "documents.jsonl"):
        if row.get("pdf"):
            path = shared / "cuad" / row["pdf"]
            twin = (shared / "cuad" / row["file"]).read_text(encoding="utf-8")
            yield SourceFile(path.name, path.read_bytes(), twin, is_twin=True)


def handbooks(suffix: str) -> Callable[[Path], Iterator[SourceFile]]:
    """The policy handbooks of one format."""

    def files(shared: Path) -> Iterator[SourceFile]:
        for path in sorted((shared / "policy-handbooks").rglob(f"*{suffix}")):
            if path.name != "SOURCE.md":
                yield _file(path)

    return files


def obliqa(shared: Path) -> Iterator[SourceFile]:
    """Regulations: the passages of each document in their order, numbers first."""
    documents: dict[int, list[str]] = {}
    for row in _rows(shared / "obliqa" / "passages.jsonl"):
        if row["text"].strip():
            line = f"{row['passage_id'].rstrip('.')} {row['text'].strip()}"
            documents.setdefault(row["doc"], []).append(line)
    for document, passages in sorted(documents.items()):
        text = "\n\n".join(passages) + "\n"
        yield SourceFile(f"regulation-{document}.txt", text.encode(), text)


def contractnli(shared: Path) -> Iterator[SourceFile]:
    """Non-disclosure agreements as plain text."""
    for path in sorted((shared / "contractnli" / "docs").glob("*.txt")):
        yield _file(path)


def policyqa(shared: Path) -> Iterator[SourceFile]:
    """Privacy policies of web sites as Markdown."""
    for path in sorted((shared / "policyqa" / "policies").glob("*.md")):
        yield _file(path)


def laws(name: str, *, as_json: bool) -> Callable[[Path], Iterator[SourceFile]]:
    """Statutes of Taiwan, as Markdown or as the law database's JSON, built again."""

    def files(shared: Path) -> Iterator[SourceFile]:
        articles: dict[str, list[Mapping[str, Any]]] = {}
        for row in _rows(shared / name / "articles.jsonl"):
            articles.setdefault(row["pcode"], []).append(row)
        for path in sorted((shared / name / "laws").glob("*.md")):
            code = path.name.partition("_")[0]
            numbers = tuple(str(row["article"]) for row in articles[code])
            if as_json:
                yield _law_json(code, articles[code], numbers)
            else:
                text = path.read_text(encoding="utf-8")
                yield SourceFile(
                    path.name, path.read_bytes(), _seen_in_markdown(text), False, numbers
                )

    return files


def gdpr(shared: Path) -> Iterator[SourceFile]:
    """The General Data Protection Regulation as Markdown."""
    path = shared / "eu-gdpr" / "gdpr.md"
    numbers = tuple(str(row["article"]) for row in _rows(shared / "eu-gdpr" / "articles.jsonl"))
    text = path.read_text(encoding="utf-8")
    yield SourceFile(path.name, path.read_bytes(), _seen_in_markdown(text), False, numbers)


CORPORA: dict[str, Callable[[Path], Iterator[SourceFile]]] = {
    "policy-pdf-qa": policy_pdf_qa,
    "cuad-pdf": cuad_pdf,
    "cuad-text": cuad_text,
    "handbooks-md": handbooks(".md"),
    "handbooks-pdf": handbooks(".pdf"),
    "handbooks-html": handbooks(".html"),
    "handbooks-docx": handbooks(".docx"),
    "obliqa": obliqa,
    "contractnli": contractnli,
    "policyqa": policyqa,
    "tw-law-general-md": laws("tw-law-general", as_json=False),
    "tw-law-general-json": laws("tw-law-general", as_json=True),
    "tw-traffic-law-md": laws("tw-traffic-law", as_json=False),
    "tw-traffic-law-json": laws("tw-traffic-law", as_json=True),
    "eu-gdpr": gdpr,
}


def _law_json(code: str, rows: list[Mapping[str, Any]], numbers: tuple[str, ...]) -> SourceFile:
    content: list[dict[str, str]] = []
    chapter = None
    for row in rows:
        if row.get("chapter") and row["chapter"] != chapter:
            chapter = row["chapter"]
            content.append({"編章節": chapter})
        content.append({"條號": f"第 {row['article']} 條", "條文內容": row["text"]})
    law = {"法規名稱": rows[0]["law"], "pcode": code, "法規內容": content}
    parts = [rows[0]["law"], *(" ".join(part.values()) for part in content)]
    data = json.dumps(law, ensure_ascii=False, indent=1).encode()
    return SourceFile(f"{code}.json", data, "\n".join(parts), False, numbers)


def _file(path: Path) -> SourceFile:
    data = path.read_bytes()
    return SourceFile(path.name, data, _SEEN[path.suffix](data))


def _seen_in_text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _seen_in_markdown(text: str) -> str:
    """The text without front matter, comments, tags, attribute lists and addresses of links."""
    text = re.sub(r"\A---\n.*?\n---\s*\n", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"</?[a-zA-Z][^<>]*>", " ", text)
    text = re.sub(r"^\s{0,3}\[[^\]\n]+\]:\s*\S+.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])", " ", text)
    text = re.sub(r"\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)", "] ", text)
    text = re.sub(r"(?<=\])\[[^\]\n]*\]", " ", text)
    return re.sub(r"\{:[^}\n]*\}", " ", text)


def _seen_in_html(data: bytes) -> str:
    """The text of the body without scripts and styles, as html5lib builds the page."""
    page = data.decode("utf-8", errors="replace")
    root = html5lib.parse(page, namespaceHTMLElements=False)
    parts: list[str] = []
    _collect(root, parts)
    return " ".join(parts)


def _collect(element: Any, parts: list[str]) -> None:
    if not isinstance(element.tag, str) or element.tag in _UNSEEN:
        return
    if element.text:
        parts.append(element.text)
    for child in element:
        _collect(child, parts)
        if child.tail:
            parts.append(child.tail)


def _seen_in_docx(data: bytes) -> str:
    """The raw text of the body and the notes, changes as accepted."""
    parts: list[str] = []
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for name in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
            if name in package.namelist():
                for paragraph in etree.fromstring(package.read(name)).iter(f"{_WORD_NS}p"):
                    parts.append("".join(t.text or "" for t in paragraph.iter(f"{_WORD_NS}t")))
    return "\n".join(parts)


def _seen_in_pdf(data: bytes) -> str:
    """What pdfminer.six reads, without what stands in the margin of many pages.

    `(cid:12)` is what it writes for a glyph that it knows no character of.
    """
    lines = without_furniture(_lines_of_pdf(data))
    return "\n".join(_UNKNOWN_GLYPH.sub("", line.text) for line in lines)


def without_furniture(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines without running heads, running feet and page numbers.

    Such a line stands in the outer seventh of its page, and comes back in the same place, with
    other figures maybe, on three pages or more. It is not asked how many of all pages these
    are: odd and even pages differ, and so do the parts of a book.
    """
    places: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for line in lines:
        if line.is_in_margin:
            places[line.key].append((line.page, line.top))
    return [
        line
        for line in lines
        if not line.is_in_margin or _pages_alike(places[line.key], line.top) < _MIN_PAGES
    ]


def _pages_alike(places: Sequence[tuple[int, float]], top: float) -> int:
    return len({page for page, other in places if abs(other - top) <= _NEAR_POINTS})


def _lines_of_pdf(data: bytes) -> list[PdfLine]:
    """The lines of a PDF; kept on disk, since reading them takes longer than all the rest."""
    place = _KEPT / f"{hashlib.sha256(data).hexdigest()[:32]}.jsonl"
    if not place.exists():
        _KEPT.mkdir(parents=True, exist_ok=True)
        rows = (json.dumps(astuple(line)) for line in _read_with_pdfminer(data))
        place.write_text("\n".join(rows), encoding="utf-8")
    return [PdfLine(*json.loads(row)) for row in place.read_text(encoding="utf-8").splitlines()]


def _read_with_pdfminer(data: bytes) -> Iterator[PdfLine]:
    for number, page in enumerate(extract_pages(io.BytesIO(data)), 1):
        for box in page:
            if isinstance(box, LTTextContainer):
                for line in box:
                    if line.get_text().strip():
                        yield PdfLine(number, page.height, page.height - line.y1, line.get_text())


_SEEN: dict[str, Callable[[bytes], str]] = {
    ".pdf": _seen_in_pdf,
    ".docx": _seen_in_docx,
    ".html": _seen_in_html,
    ".md": lambda data: _seen_in_markdown(_seen_in_text(data)),
    ".txt": _seen_in_text,
}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:  # splitlines() would cut at U+2028 too
        yield from map(json.loads, lines)
