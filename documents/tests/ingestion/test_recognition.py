"""Pages that are images: read with the real Tesseract, or refused with their numbers."""

from __future__ import annotations

import io
import shutil

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from documents.errors import ParseError
from documents.ingestion import ocr
from documents.ingestion.confined.limits import Limits
from documents.ingestion.confined.program import run_program
from documents.ingestion.confined.reading import read_confined
from documents.records import ParsedDocument

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="Tesseract is not installed on this machine"
)
PAGE = (612, 792)
LINES = ("Travel costs are paid back within 30 days.", "Receipts are kept for seven years.")


def scan(*lines: str, turn: int = 0) -> Image.Image:
    """A page of print as a scanner gives it."""
    image = Image.new("L", (PAGE[0] * 3, PAGE[1] * 3), 255)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=42)
    for row, line in enumerate(lines):
        draw.text((200, 300 + 90 * row), line, fill=0, font=font)
    return image.rotate(turn, expand=True)


def pdf(*pages: Image.Image | str) -> bytes:
    """A PDF of scanned pages and pages with text."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=PAGE)
    for page in pages:
        if isinstance(page, str):
            canvas.drawString(72, 700, page)
        else:
            size = (PAGE[0], PAGE[1]) if page.height > page.width else (PAGE[1], PAGE[0])
            canvas.setPageSize(size)
            canvas.drawImage(ImageReader(page), 0, 0, *size)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def read(data: bytes, *, ocr_max_pages: int = 10) -> ParsedDocument:
    return read_confined(
        data, file_name="scan.pdf", limits=Limits(), ocr_max_pages=ocr_max_pages, language="en"
    )


@needs_tesseract
@pytest.mark.parametrize("turn", [0, 90, 270])
def test_a_scan_is_read_word_by_word(turn: int) -> None:
    parsed = read(pdf(scan(*LINES, turn=turn)))
    assert " ".join(parsed.text.split()) == " ".join(LINES)
    page = parsed.pages[0]
    assert page.ocr_confidence is not None
    assert page.ocr_confidence > 0.8
    words = [parsed.text[word.start : word.end] for word in page.words]
    assert words == " ".join(LINES).split()
    for word in page.words:
        left, top, right, bottom = word.box
        assert 0 <= left < right <= page.width
        assert 0 <= top < bottom <= page.height
    assert "read_by_ocr" in {note.code for note in parsed.warnings}


@needs_tesseract
def test_only_the_pages_without_text_are_recognised() -> None:
    parsed = read(pdf("This page has words of its own.", scan(*LINES), "And so has this one."))
    assert [page.ocr_confidence is not None for page in parsed.pages] == [False, True, False]
    places = [parsed.text.find(text) for text in ("of its own", LINES[0], "has this one")]
    assert -1 not in places
    assert places == sorted(places)
    assert {note.code: note.pages for note in parsed.warnings}["read_by_ocr"] == (2,)


@needs_tesseract
def test_a_picture_without_words_stays_a_page_without_text() -> None:
    parsed = read(pdf("One.", scan(), "Three."))
    notes = {note.code: note.pages for note in parsed.warnings}
    assert notes["pages_without_text"] == (2,)
    assert "read_by_ocr" not in notes


def test_switched_off_the_file_is_refused_with_its_pages() -> None:
    with pytest.raises(ParseError) as raised:
        read(pdf(scan(*LINES), scan(*LINES)), ocr_max_pages=0)
    assert raised.value.code == "needs_ocr"
    assert raised.value.pages == (1, 2)


@needs_tesseract
def test_more_pages_than_allowed_are_refused_by_name_of_the_setting() -> None:
    with pytest.raises(ParseError, match="LEGALQA_OCR_MAX_PAGES") as raised:
        read(pdf(scan(*LINES), scan(*LINES)), ocr_max_pages=1)
    assert raised.value.code == "needs_ocr"


def test_a_table_of_words_that_is_none_is_said_to_be() -> None:
    tesseract = ocr.Tesseract("/usr/bin/tesseract", ("eng",))
    with pytest.raises(ParseError, match="Check its installation"):
        ocr.read_image(
            b"", 1, tesseract=tesseract, language="en", run=lambda *_: b"level\ttext\n5\tx\n"
        )


@pytest.mark.parametrize(
    ("language", "installed", "packs"),
    [
        ("zh-Hant", ("chi_tra", "eng", "osd"), ["chi_tra", "eng"]),
        ("fr", ("eng", "osd"), ["eng"]),
        (None, ("chi_sim", "eng", "osd"), ["eng", "chi_sim"]),
        ("ja", ("deu",), ["deu"]),
    ],
)
def test_languages_are_those_installed(
    language: str | None, installed: tuple[str, ...], packs: list[str]
) -> None:
    assert ocr.Tesseract("tesseract", installed).packs_for(language) == packs


@pytest.mark.parametrize(
    "arguments",
    [
        ["/bin/cat", "/etc/passwd"],
        ["/bin/sh", "-c", "echo planted > planted-by-a-program"],
        ["/bin/sh", "-c", "/bin/ls & wait; exec /bin/false"],
        ["/bin/false"],
    ],
)
def test_a_program_reads_and_writes_nothing_but_its_pipes(arguments: list[str]) -> None:
    with pytest.raises(ParseError):
        run_program(arguments, b"")


def test_a_program_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-of-the-parent")
    assert b"secret" not in run_program(["/usr/bin/env"], b"")


def test_a_program_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Limits, "wall_seconds", 0.8)
    with pytest.raises(ParseError, match="took too long"):
        run_program(["/usr/bin/sleep", "100000"], b"")


def test_a_program_that_prints_without_end_is_ended_while_it_prints() -> None:
    with pytest.raises(ParseError, match="printed too much"):
        run_program(["/usr/bin/yes"], b"", limits=Limits(memory_mb=64))


def test_a_program_reads_all_of_a_large_input_while_it_prints() -> None:
    data = b"a line\n" * 400_000
    assert run_program(["/usr/bin/cat"], data) == data
