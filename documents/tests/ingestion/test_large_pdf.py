"""A PDF of five hundred pages, read in the child: memory stays bounded, progress is shown."""

from __future__ import annotations

import io
import random

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from documents.ingestion.confined.limits import Limits, Usage
from documents.ingestion.confined.run import parse_confined

PAGES = 500
WORDS = ("staff", "return", "every", "key", "badge", "coat", "plan", "lamp", "desk", "door", "yard")


def handbook(pages: int) -> bytes:
    """A PDF with 40 lines a page, no two alike, and a section on each."""
    chance = random.Random(pages)  # noqa: S311 - words for a test
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4, pageCompression=1)
    for page in range(1, pages + 1):
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(72, 780, f"{page} Keys of building {page}")
        canvas.setFont("Helvetica", 10)
        for line in range(40):
            words = " ".join(chance.choices(WORDS, k=14))
            canvas.drawString(72, 755 - 17 * line, f"{words.capitalize()} {page}-{line}.")
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


@pytest.mark.timeout(280)
def test_five_hundred_pages_stay_under_a_gigabyte_and_show_progress() -> None:
    used: list[Usage] = []
    said: list[tuple[int, int]] = []

    parsed = parse_confined(
        handbook(PAGES),
        file_name="handbook.pdf",
        limits=Limits(cpu_seconds=120),  # machines that test may be slow and busy
        progress=lambda done, total: said.append((done, total)),
        observe=used.append,
    )

    assert [page.number for page in parsed.pages] == list(range(1, PAGES + 1))
    assert f"{PAGES}-39." in parsed.text
    assert used[0].peak_memory_bytes < 1024**3
    assert len(said) > 5
    assert said == sorted(said)
    assert said[-1][1] >= PAGES
