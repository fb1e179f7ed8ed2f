"""Word files that are broken, swollen or armed: a reason, never a crash, and nothing run."""

from __future__ import annotations

import io
import random
import struct
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.parsers.docx import parse_docx
from documents.ingestion.parsers.docx.package import MAX_MEMBERS
from documents.tests.ingestion.docx_files import (
    archive,
    docx,
    field,
    level,
    lists,
    p,
    parse,
    table,
    texts,
    warnings,
)

MACROS = "application/vnd.ms-word.document.macroEnabled.main+xml"


def refusal(data: bytes) -> str:
    with pytest.raises(ParseError) as raised:
        parse_docx(data)
    assert "Traceback" not in raised.value.message
    return raised.value.code


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE w:document [<!ENTITY k "v">]>',
        '<?xml version="1.0"?><!-- <a> --><!DOCTYPE w:document SYSTEM "http://127.0.0.1/x">',
        "<?xml version='1.0'?>\n<?pi ?>\n<!DOCTYPE x>",
    ],
)
def test_a_document_type_is_refused(declaration: str) -> None:
    assert refusal(docx(p("Text"), prolog=declaration)) == "refused"


def test_a_document_type_is_refused_in_parts_that_are_not_read_and_in_other_encodings() -> None:
    inner = '<!DOCTYPE x [<!ENTITY a "b">]><x/>'
    assert refusal(docx(p("Text"), extra={"customXml/item1.xml": inner})) == "refused"
    wide = f'<?xml version="1.0" encoding="UTF-16"?>{inner}'.encode("utf-16")
    assert refusal(docx(p("Text"), extra={"customXml/item1.xml": wide})) == "refused"


def test_a_part_that_swells_is_refused_before_it_is_unpacked() -> None:
    swollen = docx(p("z" * 60_000_000))

    assert len(swollen) < 1_000_000
    assert refusal(swollen) == "refused"


def test_too_many_parts_are_refused() -> None:
    extra = {f"word/media/{index}.txt": b"" for index in range(MAX_MEMBERS + 1)}

    assert refusal(docx(p("Text"), extra=extra)) == "refused"


@pytest.mark.parametrize(
    "name", ["../evil.xml", "/etc/passwd", "word/../../evil", "C:/evil", "..\\evil"]
)
def test_a_part_that_names_a_place_outside_is_refused(name: str) -> None:
    assert refusal(docx(p("Text"), extra={name: b"x"})) == "refused"


def test_two_parts_of_one_name_are_refused() -> None:
    assert refusal(docx(p("Text"), extra={"word/Document.xml": b"<x/>"})) == "refused"


def test_an_encrypted_part_asks_for_the_password_to_be_removed() -> None:
    data = bytearray(docx(p("Text")))
    position = data.find(b"PK\x01\x02")
    while position >= 0:
        struct.pack_into("<H", data, position + 8, 1)
        position = data.find(b"PK\x01\x02", position + 4)

    assert refusal(bytes(data)) == "encrypted"


def test_a_damaged_part_is_refused() -> None:
    data = docx(p("Text " * 500))
    start = data.find(b"word/document.xml") + 40
    broken = (
        data[:start] + bytes(byte ^ 0x55 for byte in data[start : start + 40]) + data[start + 40 :]
    )

    assert refusal(broken) == "refused"
    assert refusal(data[: len(data) // 2]) == "refused"
    assert refusal(b"PK\x03\x04") == "refused"


def test_other_office_files_are_no_word_documents() -> None:
    assert refusal(archive({"xl/workbook.xml": "<x/>"})) == "unsupported"
    assert refusal(archive({"word/document.xml": "<x/>"})) == "unsupported"
    assert refusal(archive({"word/document.xml": "no xml"})) == "refused"


def test_parts_that_are_missing_cost_nothing() -> None:
    links = [
        ("styles", "gone.xml", ""),
        ("numbering", "../../gone.xml", ""),
        ("header", "h.xml", ""),
    ]

    assert parse(p("Text"), links=links).text == "Text"


@pytest.mark.parametrize("depth", [40, 250, 5000])
def test_deep_nesting_ends_in_time(depth: int) -> None:
    nested = p("x")
    for _ in range(depth):
        nested = f"<w:tbl><w:tr><w:tc>{nested}</w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl><w:p/>"
    if depth == 40:
        assert "x" in parse(nested).text
    else:
        assert refusal(docx(nested)) == "refused"


def test_styles_and_lists_in_a_ring_end() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="A"><w:basedOn w:val="B"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="B"><w:basedOn w:val="A"/></w:style>'
        '<w:style w:type="numbering" w:styleId="L"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr>'
        "</w:pPr></w:style>"
    )
    numbering = lists({0: '<w:numStyleLink w:val="L"/>'}, {1: (0, "")})
    document = parse(
        p("x", style="A", num=(1, 0)), parts={"styles": styles, "numbering": numbering}
    )

    assert document.text == "x"


def test_absurd_numbers_are_taken_calmly() -> None:
    numbering = lists(
        {0: level(0, "upperRoman", "%1", start=999999999) + level(77, "decimal", "%1")},
        {1: (0, "")},
    )
    wide = '<w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p/></w:tc>'
    body = p("x", num=(1, 0)) + p("y", num=(1, 999999)) + f"<w:tbl><w:tr>{wide * 3}</w:tr></w:tbl>"

    assert texts(parse(body, parts={"numbering": numbering}))[0] == "999999999 x"


# What acts.


def active(data: bytes) -> list[tuple[str, str, bool]]:
    return [(i.kind, i.detail, i.is_dangerous) for i in parse_docx(data).active_content]


def test_macros_are_named_and_dangerous() -> None:
    data = docx(p("Text"), main_type=MACROS, extra={"word/vbaProject.bin": b"x"})

    assert active(data) == [("macro", "word/vbaProject.bin", True)]
    assert "active_content" in warnings(parse_docx(data))


def test_a_remote_template_is_dangerous_and_a_local_one_is_not() -> None:
    def with_template(target: str) -> bytes:
        relation = (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
            f'relationships/attachedTemplate" Target="{target}" TargetMode="External"/>'
            "</Relationships>"
        )
        return docx(
            p("Text"),
            parts={"settings": '<w:attachedTemplate r:id="rId1"/>'},
            extra={"word/_rels/settings.xml.rels": relation},
        )

    remote = "http://127.0.0.1/evil.dotm"
    assert active(with_template(remote)) == [("remote_template", remote, True)]
    assert active(with_template("\\\\server\\evil.dotm"))[0][2]
    assert not active(with_template("file:///C:/Users/a/Normal.dotm"))[0][2]


def test_embedded_programs_are_dangerous_and_embedded_tables_are_not() -> None:
    packed = (
        b"..."
        + "\x01Ole10Native".encode("utf-16-le")
        + b"\0\0\x10\0\0\0\x02\0run.exe\0C:\\run.exe\0"
    )
    data = docx(
        p("Text"),
        links=[("oleObject", "embeddings/o.bin", ""), ("package", "embeddings/t.xlsx", "")],
        extra={"word/embeddings/o.bin": packed, "word/embeddings/t.xlsx": b"PK"},
    )

    assert active(data) == [
        ("ole_object", "word/embeddings/o.bin", True),
        ("embedded_file", "word/embeddings/t.xlsx", False),
    ]
    assert {"active_content", "embedded_files"} <= warnings(parse_docx(data))


def test_fields_that_run_or_fetch_are_named() -> None:
    body = p(
        field('DDEAUTO c:\\\\windows\\\\system32\\\\cmd.exe "/k calc"', "x"),
        field('INCLUDEPICTURE "http://127.0.0.1/i.png"', ""),
        field('INCLUDETEXT "chapter2.docx"', "y"),
    )
    kinds = [(kind, dangerous) for kind, _, dangerous in active(docx(body))]

    assert kinds == [("dde", True), ("external_link", False)]


def test_a_field_whose_name_is_put_together_is_seen_through() -> None:
    begin, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "end"))
    split = "<w:r><w:instrText>DD</w:instrText></w:r><w:r><w:instrText>E cmd x</w:instrText></w:r>"
    quoted = field("QUOTE x", "DDE") + "<w:r><w:instrText> cmd</w:instrText></w:r>"

    assert active(docx(p("t", begin, split, end)))[0][0] == "dde"
    assert active(docx(p("t", begin, quoted, end)))[0][0] == "dde"


def test_pictures_from_outside_are_named_and_never_fetched() -> None:
    target = "http://127.0.0.1:9/pixel.png"

    assert active(docx(p("Text"), links=[("image", target, "External")])) == [
        ("external_link", target, False)
    ]


def test_plain_links_are_nothing_to_name() -> None:
    links = [
        ("hyperlink", "https://example.org/", "External"),
        ("hyperlink", "mailto:a@b", "External"),
    ]

    assert active(docx(p("Text"), links=links)) == []


def test_a_chunk_in_another_format_is_named() -> None:
    document = parse(
        p("Text") + '<w:altChunk r:id="rId1"/>',
        links=[("aFChunk", "chunk.html", "")],
        extra={"word/chunk.html": b"<p>html</p>"},
    )

    assert {"content_not_read", "embedded_files"} <= warnings(document)


# Anything at all.


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_end_in_a_reason(data: bytes) -> None:
    with pytest.raises(ParseError):
        parse_docx(b"PK\x03\x04" + data)


BODY = (
    p("Scope", style="H", num=(1, 0))
    + p("Text ", field("REF x", "y"), '<w:ins w:id="1"><w:r><w:t>new</w:t></w:r></w:ins>')
    + table(["a", "b"], ["c", p("d", num=(1, 1))])
    + p("end", '<w:r><w:footnoteReference w:id="2"/></w:r>')
)
PARTS = {
    "numbering": lists(
        {0: level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2")}, {1: (0, "")}
    ),
    "styles": '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style>',
    "footnotes": f'<w:footnote w:id="2">{p("note")}</w:footnote>',
}


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 12))
def test_a_file_with_changed_xml_gives_a_document_or_a_reason(seed: int, count: int) -> None:
    """Bytes of the parts are changed, and the archive is whole again."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    with zipfile.ZipFile(io.BytesIO(docx(BODY, parts=PARTS))) as source:
        files = {name: bytearray(source.read(name)) for name in source.namelist()}
    pieces = [
        b"<w:p>",
        b"</w:p>",
        b"</w:tc>",
        b'"',
        b"0",
        b"9999999",
        b"w:val",
        b"<w:del>",
        b"<",
        b"%9",
    ]
    for _ in range(count):
        part = files[chance.choice(list(files))]
        start = chance.randrange(len(part))
        part[start : start + chance.randrange(4)] = chance.choice(pieces)
    try:
        document = parse_docx(archive({name: bytes(part) for name, part in files.items()}))
    except ParseError as error:
        assert error.message  # noqa: PT017 - a document is as good as a reason
    else:
        assert document.text


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_file_with_moved_elements_gives_a_document_or_a_reason(seed: int) -> None:
    """Elements of the body are put where they do not belong; the XML stays well formed."""
    from lxml import etree

    chance = random.Random(seed)  # noqa: S311 - not for secrets
    with zipfile.ZipFile(io.BytesIO(docx(BODY, parts=PARTS))) as source:
        files = {name: source.read(name) for name in source.namelist()}
    root = etree.fromstring(files["word/document.xml"])
    for _ in range(6):
        elements = list(root.iter())[2:]
        moved, target = chance.choice(elements), chance.choice(elements)
        if target not in moved.iter():
            target.insert(0, moved)
    files["word/document.xml"] = etree.tostring(root)
    try:
        document = parse_docx(archive(files))
    except ParseError as error:
        assert error.message  # noqa: PT017 - a document is as good as a reason
    else:
        assert document.text
