"""A page of a PDF as printed, in a real Chromium: the boxes lie on the quoted words."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from documents.ingestion.parsers.pdf import parse_pdf
from documents.tests import factories
from tests.browser.conftest import Visit, manage, visiting

pytestmark = [pytest.mark.browser, pytest.mark.services]

QUOTE = "a bicycle rack stands behind gate seven"
PAGES = [
    ["1 Parking", "Cars are parked in the yard.", "Lorries wait outside."],
    ["2 Bicycles", f"For bicycles {QUOTE}.", "It is lit at night."],
]
# Where ink is, seen in the image at its own size: counts of dark pixels, by a stretch of points.
_INK = """
async ([left, top, right, bottom]) => {
  const shown = document.querySelector("svg.page-image image");
  const picture = new Image();
  picture.src = shown.getAttribute("href");
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = picture.naturalWidth;
  canvas.height = picture.naturalHeight;
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const scale = picture.naturalWidth / Number(shown.getAttribute("width"));
  const [x, y] = [left * scale, top * scale].map(Math.round);
  const [w, h] = [(right - left) * scale, (bottom - top) * scale].map(Math.round);
  const pixels = context.getImageData(x, y, w, h).data;
  let dark = 0;
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i] < 128) dark += 1;
  return dark;
}
"""


@pytest.fixture(scope="module")
def section(
    environment: dict[str, str], site: str, chromium: Browser, tmp_path_factory: Any
) -> str:
    """The address of the section that holds the quote, with the quote to be marked."""
    data, _ = factories.pdf(PAGES)
    file = Path(tmp_path_factory.mktemp("pdf")) / "parking.pdf"
    file.write_bytes(data)
    given = ["--policy", "parking", "--labels", "all-staff", "--effective-from", "2024-01-01"]
    manage(environment, "ingest", str(file), *given, "--publish", "--inline")
    start = parse_pdf(data).text.index(QUOTE)
    query = urlencode({"as_of": "2024-06-01", "start": start, "end": start + len(QUOTE)})
    with visiting(chromium, site) as visit:
        visit.log_in()
        visit.page.goto(f"{site}/policies/parking/?as_of=2024-06-01")
        link = visit.page.locator("a.quiet-link", has_text="Bicycles").get_attribute("href")
    assert link is not None
    return f"{site}{link.partition('?')[0]}?{query}"


def boxes(visit: Visit) -> list[list[float]]:
    """The marked boxes in the page's points: left, top, right, bottom."""
    found: list[list[float]] = visit.page.locator("rect.quote-box").evaluate_all(
        "all => all.map(r => [r.x, r.y, r.width, r.height].map(v => v.baseVal.value))"
    )
    return [[x, y, x + width, y + height] for x, y, width, height in found]


def test_the_boxes_lie_on_the_quoted_words(reader: Visit, section: str) -> None:
    reader.page.goto(section)
    expect(reader.page.locator("mark#cited")).to_have_text(QUOTE)
    image = reader.page.get_by_role("img", name="as printed, with the cited words marked")
    expect(image).to_be_visible()

    (box,) = boxes(reader)
    left, top, right, bottom = box

    assert right - left == pytest.approx(len(QUOTE) * 7.2, abs=8)
    assert reader.page.evaluate(_INK, box) > 100
    words_before = [40.0, top, left - 2, bottom]
    assert reader.page.evaluate(_INK, words_before) > 20  # "For bicycles" is not marked
    assert reader.page.evaluate(_INK, [right + 10, top, right + 60, bottom]) == 0


def test_a_page_leads_to_its_neighbours_and_back_to_the_text(reader: Visit, section: str) -> None:
    page = reader.page
    page.goto(section.replace("start=", "other="))
    page.get_by_role("link", name="See page 2 as printed").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Page 2")
    page.get_by_role("link", name="Page before").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Page 1")
    page.get_by_role("link", name="Read its text").click()
    expect(page.get_by_text("Cars are parked in the yard.")).to_be_visible()


def test_the_file_is_saved_under_its_name(reader: Visit, section: str) -> None:
    reader.page.goto(section)
    with reader.page.expect_download() as download:
        reader.page.get_by_role("link", name="Download the file").click()

    assert download.value.suggested_filename == "parking.pdf"
    assert Path(download.value.path()).read_bytes() == factories.pdf(PAGES)[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_fits_a_small_screen_without_script(
    chromium: Browser, site: str, section: str, scheme: str
) -> None:
    small = {"width": 320, "height": 640}
    with visiting(chromium, site, viewport=small, color_scheme=scheme) as visit:
        visit.log_in()
        visit.page.goto(section)
        expect(visit.page.locator("rect.quote-box")).to_have_count(1)
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 320
