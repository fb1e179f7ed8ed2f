"""What a file is: by its bytes; names, polyglots and damaged files are dealt with by rule."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.names import MAX_NAME, shown_name, title_from_name
from documents.ingestion.parsers import check_is_readable, parse
from documents.ingestion.parsers.signatures import member_names
from documents.ingestion.parsers.sniff import sniff
from documents.records import MediaType

PAGE = b"<!DOCTYPE html><html><body><p>Keys are returned daily.</p></body></html>"
TEXT = b"Keys are returned daily.\n"
PDF = b"%PDF-1.7\n1 0 obj\n<< >>\nendobj\n%%EOF\n"
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def archive(*names: str, first: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        if first:
            made.writestr("mimetype", first)
        for name in names:
            made.writestr(name, "x")
    return stream.getvalue()


def old_office(*streams: str, word_flags: int | None = None) -> bytes:
    """A container with a directory of these streams, as far as one tells it by."""
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in streams)
    header = OLD.ljust(512, b"\0")
    if word_flags is None:
        return header + entries
    start = b"\xec\xa5" + bytes(8) + struct.pack("<H", word_flags)
    return header + start.ljust(512, b"\0") + entries


def refusal(data: bytes, name: str = "file") -> tuple[str, str]:
    with pytest.raises(ParseError) as caught:
        sniff(data, file_name=name)
    return caught.value.code, caught.value.message


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (PDF, "a.pdf", MediaType.PDF),
        (b"\xef\xbb\xbf\r\n" + PDF, "a", MediaType.PDF),
        (archive("[Content_Types].xml", "word/document.xml"), "a.docx", MediaType.DOCX),
        (archive("[Content_Types].xml", "word/document2.xml"), "a.docx", MediaType.DOCX),
        (archive("Word/Document.xml"), "a.docx", MediaType.DOCX),
        (PAGE, "a.html", MediaType.HTML),
        (PAGE, "a.txt", MediaType.HTML),
        (b"<p>Hi</p>", "a.htm", MediaType.HTML),
        ("<!doctype html><html>é".encode("utf-16"), "a.html", MediaType.HTML),
        (TEXT, "a.md", MediaType.MARKDOWN),
        (b"# One\n\nText.\n\n# Two\n\nText.\n", "a.txt", MediaType.MARKDOWN),
        (TEXT, "a.txt", MediaType.PLAIN),
        (b"MZ is how this rule begins.\n" * 4, "a.txt", MediaType.PLAIN),
        (b"BMW drivers park below.\n", "a.txt", MediaType.PLAIN),
        (b"To: all staff\nFrom: HR\nDate: 1 May\nSubject: Keys\n\nReturn them.\n", "memo.txt",
         MediaType.PLAIN),
        (b"[1] Keys are returned daily.\n", "a.txt", MediaType.PLAIN),
        (b'{"LawName": "x", "LawArticles": []}', "a.json", MediaType.LAW_JSON),
    ],
)  # fmt: skip
def test_a_file_is_what_its_bytes_say(data: bytes, name: str, expected: MediaType) -> None:
    found = sniff(data, file_name=name)

    assert found.media_type is expected
    assert not found.active_content


@pytest.mark.parametrize(
    ("data", "named", "advice"),
    [
        (old_office("Root Entry", "WordDocument"), "an old Word document", "Save it as .docx"),
        (old_office("Workbook"), "an old Excel workbook", "Save the text"),
        (old_office("PowerPoint Document"), "an old PowerPoint presentation", "Save it as PDF"),
        (old_office("__properties_version1.0"), "an Outlook message", "Save it as PDF or text"),
        (old_office("Contents"), "an old Office document", "Save it as .docx"),
        (archive("xl/workbook.xml"), "an Excel workbook", "Save the text"),
        (archive("ppt/presentation.xml"), "a PowerPoint presentation", "Save it as PDF"),
        (archive("content.xml", first=b"application/vnd.oasis.opendocument.text"),
         "an OpenDocument text", "Save it as .docx"),
        (archive("OPS/a.xhtml", first=b"application/epub+zip"), "an e-book", "Save it as PDF"),
        (archive("a.txt", "b.zip"), "an archive", "Unpack it"),
        (archive("META-INF/MANIFEST.MF", "A.class"), "a program", "Upload a PDF"),
        (archive(), "an empty archive", "Upload a PDF"),
        (b"{\\rtf1 Hello}", "an RTF document", "Save it as .docx"),
        (b"\x89PNG\r\n\x1a\n", "an image", "Upload a PDF"),
        (b"GIF89a=1;alert(1)//" + PAGE, "an image", "Upload a PDF"),
        (b"GIF89a" + PDF, "an image", "Upload a PDF"),
        (b"\x1f\x8b\x08\x00" + bytes(100), "a compressed file", "Unpack it"),
        (b"\x7fELF\x02\x01", "a program", "Upload a PDF"),
        (b"MZ".ljust(60, b"\0") + b"\x40\0\0\0PE\0\0", "a program", "Upload a PDF"),
        (b"<svg xmlns='x'><script/></svg>", "an image", "Upload a PDF"),
        (b"Received: from x\nMessage-ID: <1>\nSubject: Keys\n\nHi\n", "an e-mail", "Save its text"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_named_with_what_to_do(data: bytes, named: str, advice: str) -> None:
    code, message = refusal(data)

    assert code == "unsupported"
    assert message.startswith(f"The file is {named}")
    assert advice in message


@pytest.mark.parametrize(
    "data",
    [old_office("Root Entry", "EncryptedPackage"), old_office("WordDocument", word_flags=0x0100)],
)
def test_a_document_under_a_password_says_so(data: bytes) -> None:
    code, message = refusal(data, "a.docx")

    assert code == "encrypted"
    assert "password" in message


def test_an_old_document_without_a_password_is_not_said_to_have_one() -> None:
    assert refusal(old_office("WordDocument", word_flags=0))[0] == "unsupported"


# --- two kinds at once ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "first", "second"),
    [
        (PDF + archive("a.js"), MediaType.PDF, "a zip archive"),
        (b"%PDF-1.4\n%<html><script>alert(1)</script>\n" + PDF, MediaType.PDF, "a web page"),
        (b"<html><!-- " + PDF + b" --></html>", MediaType.HTML, "a PDF"),
        (archive("%PDF-1.4", "word/document.xml"), MediaType.DOCX, "a PDF"),
    ],
)
def test_the_leading_kind_wins_and_the_second_holds_the_file(
    data: bytes, first: MediaType, second: str
) -> None:
    found = sniff(data, file_name="a")

    assert found.media_type is first
    assert [(x.kind, x.is_dangerous) for x in found.active_content] == [("polyglot", True)]
    assert second in found.active_content[0].detail


def test_a_polyglot_is_named_in_what_the_parser_gives() -> None:
    parsed = parse(b"<html><!-- %PDF-1.4 --><body><p>Keys.</p></body></html>", file_name="a.html")

    assert "polyglot" in [active.kind for active in parsed.active_content]


# --- names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name", "is_warned"),
    [
        (PDF, "a.docx", True),
        (PDF, "a.txt", True),
        (PDF, "a.PDF", False),
        (PDF, "policy", False),
        (PDF, "version 1.2", False),
        (PAGE, "a.pdf", True),
        (TEXT, "a.html", True),
        (TEXT, "a.pdf", True),
        (TEXT, "a.md", False),
        (b"# One\n\nText.\n\n# Two\n\nText.\n", "a.txt", False),
        (archive("word/document.xml"), "a.doc", True),
        (archive("word/document.xml"), "a.docm", False),
    ],
)
def test_a_name_that_disagrees_is_warned_of(data: bytes, name: str, is_warned: bool) -> None:
    warnings = sniff(data, file_name=name).warnings

    assert [notice.code for notice in warnings] == ["wrong_extension"] * is_warned


@pytest.mark.parametrize(
    "name", ["a.pdf.exe", "a.js", "a.Bat", "a.lnk ", "a\u202efdp.scr", "x.ps1."]
)
def test_a_name_that_promises_a_program_is_refused(name: str) -> None:
    code, message = refusal(PDF, name)

    assert code == "refused"
    assert "as programs do" in message


@pytest.mark.parametrize("name", ["www.example.com", "Leave 2024.1", "notes.py.txt"])
def test_a_title_that_only_looks_like_a_program_is_taken(name: str) -> None:
    assert sniff(TEXT, file_name=name).media_type is MediaType.PLAIN


def test_what_is_left_of_a_pdf_is_no_text() -> None:
    rest = b"1 0 obj << /Type /Catalog >> endobj\ntrailer << /Root 1 0 R >>\nstartxref\n9\n%%EOF\n"

    assert refusal(rest, "a.pdf")[1].startswith("The PDF is damaged")
    assert refusal(rest, "a.txt")[1].startswith("The PDF is damaged")
    assert refusal(bytes(range(256)) * 8, "a.pdf")[1].startswith("The name ends in .pdf, but")
    assert sniff(b"A trailer << is parked.", file_name="a.txt").media_type is MediaType.PLAIN


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\leave.docx", "leave.docx"),
        ("C:\\policies\\leave.docx", "leave.docx"),
        ("leave\0.pdf", "leave .pdf"),
        ("leave\r\nX-Evil: 1.pdf", "leave X-Evil: 1.pdf"),
        ("leave\u202efdp.docx", "leavefdp.docx"),
        ("l\u200beave.pdf", "leave.pdf"),
        ("CON.pdf", "CON_.pdf"),
        ("nul", "nul_"),
        ("leave. . .", "leave"),
        ("", "unnamed"),
        ("...", "unnamed"),
        ("員工請假辦法.pdf", "員工請假辦法.pdf"),
        ("e\u0301te\u0301.pdf", "été.pdf"),
    ],
)
def test_a_shown_name_misleads_nobody(name: str, shown: str) -> None:
    assert shown_name(name) == shown


@given(st.text(max_size=400))
def test_any_name_is_shown_in_one_short_line_and_stays_so(name: str) -> None:
    shown = shown_name(name)

    assert shown
    assert len(shown) <= MAX_NAME + 1
    assert shown.isprintable()
    assert not set(shown) & set("/\\")
    assert shown_name(shown) == shown
    assert title_from_name(name)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("leave-policy.md", "Leave policy"),
        ("travel-policy_v2.docx", "Travel policy v2"),
        ("leave.pdf.docx", "Leave"),
        ("Leave v1.2.pdf", "Leave v1.2"),
        ("x" * 300 + ".pdf", "X" + "x" * 195),
        (".pdf", "Pdf"),
        ("", "Untitled policy"),
    ],
)
def test_a_title_comes_from_the_name(name: str, title: str) -> None:
    assert title_from_name(name) == title


# --- archives ------------------------------------------------------------------------------


def test_member_names_are_read_without_unpacking() -> None:
    assert member_names(b"prefix" + archive("a", "b/c")) == ["a", "b/c"]


@pytest.mark.parametrize("cut", [5, 30, 60])
def test_a_truncated_archive_is_refused(cut: int) -> None:
    code, message = refusal(archive("word/document.xml")[:-cut], "a.docx")

    assert code == "refused"
    assert "damaged" in message


def test_a_directory_of_a_million_members_costs_nothing() -> None:
    member = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *[0] * 9, 1, *[0] * 6) + b"a"
    many = member * 1_000_000
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(many), 0, 0)
    data = b"PK\x03\x04" + many + end
    tracemalloc.start()

    code, _ = refusal(data, "a.docx")

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert code == "refused"
    assert peak < 20_000_000


STARTS = [b"", b"PK\x03\x04", OLD, b"%PDF-", b"MZ", b"<html", b"{"]


def outcome(act: Callable[[], object]) -> str:
    """The refusal's message, or nothing."""
    try:
        act()
    except ParseError as error:
        return error.message
    return ""


@given(st.binary(max_size=400), st.sampled_from(STARTS))
def test_any_bytes_are_told_or_refused_in_a_sentence(rest: bytes, start: bytes) -> None:
    for data in (start + rest, rest + archive("word/document.xml")[30:]):
        said = outcome(partial(sniff, data, file_name="a.docx"))

        assert not said or said.endswith(".")


@given(st.binary(max_size=300))
def test_the_door_refuses_only_what_the_parser_refuses(data: bytes) -> None:
    at_the_door = outcome(lambda: check_is_readable(data, file_name="a.txt"))

    assert at_the_door in ("", outcome(lambda: parse(data, file_name="a.txt")))


def test_of_long_text_the_door_looks_at_the_signature_alone() -> None:
    check_is_readable(bytes(range(128, 256)) * 10_000, file_name="a.txt")
    with pytest.raises(ParseError):
        check_is_readable(b"\x7fELF" + b"x" * 2_000_000, file_name="a.txt")
