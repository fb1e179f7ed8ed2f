"""Word files for tests, written part by part from raw XML."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

from documents.ingestion.parsers.docx import parse_docx
from documents.records import ParsedDocument

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{OFFICE}" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:o="urn:schemas-microsoft-com:office:office"'
)
MAIN_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_PARTS = {
    "numbering": "numbering",
    "styles": "styles",
    "footnotes": "footnotes",
    "endnotes": "endnotes",
    "settings": "settings",
    "comments": "comments",
}
_ROOTS = {"header": "hdr", "footer": "ftr"}


def docx(
    body: str,
    *,
    parts: Mapping[str, str] | None = None,
    links: Sequence[tuple[str, str, str]] = (),
    extra: Mapping[str, bytes | str] | None = None,
    main: str = "word/document.xml",
    main_type: str = MAIN_TYPE,
    prolog: str = "",
) -> bytes:
    """A file with this body; `parts` are inner XML by kind (`styles`, `header`).

    `links` are further relationships of the body: kind, target, mode ("" or "External").
    """
    files: dict[str, bytes | str] = {
        "[Content_Types].xml": _content_types(main, main_type),
        "_rels/.rels": _relationships([("officeDocument", main, "")]),
        main: f"{prolog}<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
    }
    relations = list(links)
    for kind, inner in (parts or {}).items():
        root = _ROOTS.get(kind, kind)
        files[f"word/{kind}.xml"] = f"<w:{root} {NAMESPACES}>{inner}</w:{root}>"
        relations.append((kind, f"{kind}.xml", ""))
    folder, _, name = main.rpartition("/")
    prefix = f"{folder}/" if folder else ""
    files[f"{prefix}_rels/{name}.rels"] = _relationships(relations)
    return archive({**files, **(extra or {})})


def archive(files: Mapping[str, bytes | str]) -> bytes:
    """A zip archive of these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return buffer.getvalue()


def parse(body: str, **options: object) -> ParsedDocument:
    """Parse a file with this body."""
    return parse_docx(docx(body, **options))  # type: ignore[arg-type] # options of docx()


def p(
    *content: str, style: str = "", properties: str = "", num: tuple[int, int] | None = None
) -> str:
    """A paragraph; text is put into a run, XML is taken as it is. `num` is (numId, ilvl)."""
    inner = f'<w:pStyle w:val="{style}"/>' if style else ""
    if num is not None:
        inner += f'<w:numPr><w:ilvl w:val="{num[1]}"/><w:numId w:val="{num[0]}"/></w:numPr>'
    inner += properties
    head = f"<w:pPr>{inner}</w:pPr>" if inner else ""
    runs = "".join(piece if piece.startswith("<") else r(piece) for piece in content)
    return f"<w:p>{head}{runs}</w:p>"


def r(text: str, properties: str = "") -> str:
    """A run of text."""
    head = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{head}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def field(instruction: str, result: str | None) -> str:
    """A complex field; without a result where it is None."""
    runs = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    runs += f"<w:r><w:instrText>{escape(instruction)}</w:instrText></w:r>"
    if result is not None:
        runs += f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{r(result)}'
    return runs + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'


def table(*rows: Iterable[str], look: str = "", properties: str = "") -> str:
    """A table; a cell is text, or XML of its content that begins with `<`."""
    look_xml = f"<w:tblLook {look}/>" if look else ""
    body = "".join(f"<w:tr>{''.join(cell(c) for c in row)}</w:tr>" for row in rows)
    return f"<w:tbl><w:tblPr>{properties}{look_xml}</w:tblPr>{body}</w:tbl>"


def cell(content: str, properties: str = "") -> str:
    """A table cell; one that is ready is taken as it is."""
    if content.startswith("<w:tc>"):
        return content
    inner = content if content.startswith("<") else p(content)
    head = f"<w:tcPr>{properties}</w:tcPr>" if properties else ""
    return f"<w:tc>{head}{inner}</w:tc>"


def level(
    index: int, kind: str, text: str, *, start: int = 1, extra: str = "", left: int | None = None
) -> str:
    """A level of a list; `extra` are elements that stand before its text."""
    indent = f'<w:pPr><w:ind w:left="{left}"/></w:pPr>' if left is not None else ""
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>{extra}'
        f'<w:lvlText w:val="{escape(text)}"/>{indent}</w:lvl>'
    )


def lists(abstracts: Mapping[int, str], nums: Mapping[int, tuple[int, str]]) -> str:
    """The numbering part: levels by definition, and lists as (definition, overrides)."""
    inner = "".join(
        f'<w:abstractNum w:abstractNumId="{key}">{levels}</w:abstractNum>'
        for key, levels in abstracts.items()
    )
    inner += "".join(
        f'<w:num w:numId="{key}"><w:abstractNumId w:val="{abstract}"/>{overrides}</w:num>'
        for key, (abstract, overrides) in nums.items()
    )
    return inner


def texts(document: ParsedDocument) -> list[str]:
    """The text of each block."""
    return [document.text[block.start : block.end] for block in document.blocks]


def warnings(document: ParsedDocument) -> set[str]:
    """The codes of the warnings."""
    return {notice.code for notice in document.warnings}


def _content_types(main: str, main_type: str) -> str:
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{main_type}"/></Types>'
    )


def _relationships(links: Iterable[tuple[str, str, str]]) -> str:
    entries = "".join(
        f'<Relationship Id="rId{index}" Type="{OFFICE}/{kind}" Target="{escape(target)}"'
        f"{f' TargetMode={chr(34)}{mode}{chr(34)}' if mode else ''}/>"
        for index, (kind, target, mode) in enumerate(links, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{entries}</Relationships>'
