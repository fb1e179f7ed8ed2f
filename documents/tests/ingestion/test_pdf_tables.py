"""Tables of PDF pages become rows that can each be read alone; what is none stays prose."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.colors import Color, lightgrey
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from documents.ingestion.parsers.pdf import parse_pdf
from documents.ingestion.parsers.pdf.extract import PdfFile
from documents.ingestion.parsers.pdf.heads import text_of
from documents.ingestion.parsers.pdf.page import Font, PageContent, Rule, TableRegion, Word
from documents.ingestion.parsers.pdf.tables import find_tables, read_tables, words_of
from documents.records import BlockKind, ParsedDocument

SHARED = Path(os.environ.get("LEGALQA_SHARED_DATA", "../shared/data"))
GRID = ("GRID", (0, 0), (-1, -1), 0.5, "black")
BOLD_HEAD = ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")
RATES = [["Country", "Lodging", "Meals"], ["Norvia", "171", "72"], ["Sumeria", "140", "60"]]
Style = Sequence[tuple[object, ...]]


def document(*parts: object) -> bytes:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=A4).build(list(parts))
    return buffer.getvalue()


def prose(text: str) -> Paragraph:
    return Paragraph(text, getSampleStyleSheet()["BodyText"])


def table(rows: Sequence[Sequence[object]], *style: tuple[object, ...], **options: object) -> Table:
    made = Table(rows, **options)
    made.setStyle(TableStyle(list(style)))
    return made


def drawn(draw: Callable[[Canvas], None]) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    draw(canvas)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def rows(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[b.start : b.end] for b in parsed.blocks if b.kind is BlockKind.TABLE_ROW]


def rows_of(*parts: object) -> list[str]:
    return rows(parse_pdf(document(*parts)))


def regions(data: bytes) -> list[TableRegion]:
    file = PdfFile(data)
    page = file.page(1)
    file.close()
    assert page is not None
    return find_tables(page)


READ = [
    "Country: Norvia; Lodging: 171; Meals: 72",
    "Country: Sumeria; Lodging: 140; Meals: 60",
]


@pytest.mark.parametrize(
    "style",
    [
        [GRID],
        [GRID, BOLD_HEAD],
        [GRID, ("BACKGROUND", (0, 0), (-1, 0), lightgrey)],
        [("INNERGRID", (0, 0), (-1, -1), 0.5, "black")],
        [("LINEABOVE", (0, 0), (-1, -1), 0.5, "black"),
         ("LINEBELOW", (0, -1), (-1, -1), 0.5, "black")],
        [("BOX", (0, 0), (-1, -1), 1, "black"), ("INNERGRID", (0, 0), (-1, -1), 0.25, "grey")],
        [("GRID", (0, 0), (-1, -1), 2.5, "black")],
        [],
    ],
    ids=["grid", "bold", "shaded", "open", "lines", "box", "thick", "white"],
)  # fmt: skip
def test_rows_read_alone_whatever_lines_are_drawn(style):
    found = rows_of(prose("Rates of 2024."), table(RATES, *style), prose("They hold all year."))

    assert found == READ


def test_text_around_a_table_keeps_its_place():
    parsed = parse_pdf(
        document(prose("Before the table."), table(RATES, GRID), prose("After the table."))
    )

    places = [parsed.text.index(part) for part in ("Before the", "Norvia", "Sumeria", "After the")]
    assert places == sorted(places)


def test_cells_of_many_lines_stay_whole():
    style = getSampleStyleSheet()["BodyText"]
    long = "An employee who travels abroad receives the daily rate of the country of arrival."
    data = [["Case", "Rule"], ["Abroad", Paragraph(long, style)], ["Home", "No allowance is paid."]]

    found = rows_of(table(data, GRID, BOLD_HEAD, colWidths=[80, 160]))

    assert found == [f"Case: Abroad; Rule: {long}", "Case: Home; Rule: No allowance is paid."]


def test_head_over_several_columns_comes_before_theirs():
    data = [
        ["Country", "Rate", ""],
        ["", "Day", "Night"],
        ["Norvia", "30", "90"],
        ["Sumeria", "25", "80"],
    ]

    found = rows_of(
        table(data, GRID, ("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1)),
              ("FONTNAME", (0, 0), (-1, 1), "Helvetica-Bold"))
    )  # fmt: skip

    assert found[0] == "Country: Norvia; Rate / Day: 30; Rate / Night: 90"
    assert len(found) == 2


def test_label_beside_several_rows_is_said_in_each():
    data = [
        ["Region", "Grade", "Days"],
        ["North", "A", "20"],
        ["", "B", "25"],
        ["South", "A", "18"],
    ]

    found = rows_of(table(data, GRID, BOLD_HEAD, ("SPAN", (0, 1), (0, 2))))

    assert found == [
        "Region: North; Grade: A; Days: 20",
        "Region: North; Grade: B; Days: 25",
        "Region: South; Grade: A; Days: 18",
    ]


def test_row_over_the_whole_width_names_no_column():
    data = [["Item", "Fee"], ["Section for members", ""], ["Card", "5"], ["Locker", "9"]]

    found = rows_of(table(data, GRID, BOLD_HEAD, ("SPAN", (0, 1), (1, 1))))

    assert found == ["Section for members", "Item: Card; Fee: 5", "Item: Locker; Fee: 9"]


def test_bold_labels_beside_values_read_as_pairs():
    data = [["Owner", "Finance"], ["Version", "1.2"], ["Review", "May 2026"]]

    found = rows_of(table(data, GRID, ("FONTNAME", (0, 0), (0, -1), "Helvetica-Bold")))

    assert found == ["Owner: Finance", "Version: 1.2", "Review: May 2026"]


@pytest.mark.parametrize("repeat", [0, 1])
@pytest.mark.parametrize("style", [[GRID], [GRID, BOLD_HEAD]])
def test_table_over_pages_keeps_its_heads(repeat, style):
    data = [["Country", "Lodging", "Meals"], *([f"Land {n:02}", str(100 + n), str(30 + n)]
            for n in range(90))]  # fmt: skip

    found = rows_of(table(data, *style, repeatRows=repeat))

    assert found == [
        f"Country: Land {n:02}; Lodging: {100 + n}; Meals: {30 + n}" for n in range(90)
    ]


def test_next_table_with_heads_of_its_own_does_not_take_the_last():
    other = [["Fee", "Euros", "Since"], ["Card", "5", "2024"], ["Locker", "9", "2025"]]

    found = rows_of(table(RATES, GRID, BOLD_HEAD), Spacer(1, 30), table(other, GRID, BOLD_HEAD))

    assert found == [
        *READ,
        "Fee: Card; Euros: 5; Since: 2024",
        "Fee: Locker; Euros: 9; Since: 2025",
    ]


def test_title_in_the_frame_stays_a_paragraph():
    data = [["Table 1: Rates", "", ""], *RATES]

    parsed = parse_pdf(document(table(data, GRID, ("SPAN", (0, 0), (-1, 0)))))

    assert rows(parsed) == READ
    assert "Table 1: Rates" in parsed.text


def test_underlined_words_cut_no_cell():
    style = getSampleStyleSheet()["BodyText"]
    data = [["Topic", "Where"], ["Leave", Paragraph("<u>see the handbook</u> on leave", style)],
            ["Pay", "Annex"]]  # fmt: skip

    found = rows_of(table(data, GRID, BOLD_HEAD, colWidths=[60, 70]))

    assert found == ["Topic: Leave; Where: see the handbook on leave", "Topic: Pay; Where: Annex"]


def test_listing_in_a_frame_is_cut_at_its_figures():
    style = [("BOX", (0, 0), (-1, -1), 1, "black"), ("LINEBELOW", (0, 0), (-1, 0), 1, "black"),
             ("LINEAFTER", (0, 0), (-2, -1), 1, "black")]  # fmt: skip
    data = [["Item", "Fee", "Note"], *([f"Card {n}", f"{n}.50", ""] for n in range(1, 5))]
    data[2][2] = "halved in May"

    found = rows_of(table(data, *style))

    assert found == [
        "Item: Card 1; Fee: 1.50",
        "Item: Card 2; Fee: 2.50; Note: halved in May",
        "Item: Card 3; Fee: 3.50",
        "Item: Card 4; Fee: 4.50",
    ]


def test_lines_of_a_drawing_are_no_cells_and_keep_their_words():
    def draw(canvas: Canvas) -> None:
        canvas.rect(50, 300, 400, 400)
        canvas.line(50, 500, 250, 500)
        canvas.line(250, 500, 250, 620)
        canvas.line(150, 300, 150, 500)
        for x, y, text in ((60, 600, "outer"), (60, 400, "left"), (200, 400, "right"),
                           (400, 320, "corner")):  # fmt: skip
            canvas.drawString(x, y, text)

    parsed = parse_pdf(drawn(draw))

    assert rows(parsed) == []
    assert sorted(parsed.text.split()) == ["corner", "left", "outer", "right"]


def test_shaded_rows_on_white_are_a_table():
    data = [["Item", "Owner", "Fee"], *([f"Card {n}", "Desk", str(n)] for n in range(1, 6))]
    zebra = [("BACKGROUND", (0, n), (-1, n), Color(0.9, 0.9, 0.9)) for n in (2, 4)]

    found = rows_of(table(data, BOLD_HEAD, *zebra))

    assert found[0] == "Item: Card 1; Owner: Desk; Fee: 1"
    assert len(found) == 5


# --- what is no table ---

LOREM = (
    "A member may borrow up to six items for a period of three weeks and may renew each of them "
    "twice unless another member waits for it, in which case it goes back to the desk at once. "
)


def two_columns(canvas: Canvas) -> None:
    words = (LOREM * 3).split()
    for column in (60, 320):
        for line in range(12):
            canvas.drawString(
                column, 700 - 14 * line, " ".join(words[8 * line : 8 * line + 7])[:42]
            )


def lines(*texts: Sequence[str], x: Sequence[int] = (72, 320)) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        for index, row in enumerate(texts):
            for left, text in zip(x, row, strict=False):
                canvas.drawString(left, 700 - 16 * index, text)

    return draw


CONTENTS = lines(
    ("1 Purpose", "3"), ("2 Leave", "4"), ("3 Travel", "9"), ("4 Expenses", "12"), x=(72, 480)
)
DOTS = lines(*[(f"{n} Heading {'. ' * 30}", str(n * 2)) for n in range(1, 6)], x=(72, 480))
NUMBERED = lines(("(a)", "the card is lost;"), ("(b)", "the card is stolen;"),
                 ("(c)", "the card has 2 owners."), x=(72, 110))  # fmt: skip
CLAUSES = lines(("1.1", "Leave is 30 days."), ("1.2", "It lapses in March."),
                ("1.3", "It is agreed early."), x=(72, 120))  # fmt: skip
BULLETS = lines(("•", "first of all 20"), ("•", "second 30"), ("•", "third 40"), x=(72, 110))
SIGNATURES = lines(("THE BANK", "THE CLIENT"), ("By: ____________", "By: ____________"),
                   ("Name: Ann", "Name: Bob"), ("Title: Head", "Title: Owner"))  # fmt: skip
ADDRESSES = lines(("Seller", "Buyer"), ("North Street", "South Street"), ("Oldtown", "Newtown"),
                  ("Norvia", "Sumeria"))  # fmt: skip


def framed(canvas: Canvas) -> None:
    canvas.rect(50, 400, 480, 330)
    canvas.line(50, 700, 530, 700)
    canvas.drawString(60, 710, "Notice")
    for line in range(8):
        canvas.drawString(60, 680 - 15 * line, LOREM[:70])


def letterhead(canvas: Canvas) -> None:
    for y in (780, 60, 40):
        canvas.line(50, y, 545, y)
    two_columns(canvas)


@pytest.mark.parametrize(
    "draw",
    [two_columns, CONTENTS, DOTS, NUMBERED, CLAUSES, BULLETS, SIGNATURES, ADDRESSES, framed,
     letterhead],
    ids=["columns", "contents", "dots", "letters", "clauses", "bullets", "signatures", "addresses",
         "frame", "letterhead"],
)  # fmt: skip
def test_what_only_looks_like_a_table_stays_text(draw):
    data = drawn(draw)

    assert regions(data) == []
    assert rows(parse_pdf(data)) == []


def test_page_full_of_rules_is_reported_and_keeps_its_words():
    word = Word("Norvia", (100, 100, 140, 112), 10, Font("F"), (0, 0, 0, 255), 0, 0, 110, 1)
    rule = Rule((0, 5, 300, 5), is_horizontal=True, width=1, order=0)
    page = PageContent(1, 595, 842, None, (word,), rules=(rule,) * 7000)

    found = read_tables(page)

    assert found.is_lost
    assert found.tables == ()


cells = st.text("abcdefgh XYZ", min_size=1, max_size=12).map(str.strip).filter(bool)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 5).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=2, max_size=6
        )
    )
)
def test_every_cell_of_a_grid_is_in_its_row_once(data):
    found = regions(document(table(data, GRID)))

    assert len(found) == 1
    texts = [[text_of(cell.words) for cell in row] for row in found[0].rows]
    assert texts == [[" ".join(text.split()) for text in row] for row in data]


coordinates = st.floats(0, 600)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            Rule,
            box=st.tuples(coordinates, coordinates, coordinates, coordinates),
            is_horizontal=st.booleans(),
            width=st.just(1.0),
            order=st.integers(0, 9),
        ),
        max_size=25,
    ),
    st.lists(
        st.builds(
            lambda x, y, text, size: Word(
                text, (x, y - size, x + 5 * len(text), y), size, Font("F"), (0, 0, 0, 255), 0, 0, y,
                1,
            ),
            coordinates,
            coordinates,
            st.text("ab1", min_size=1, max_size=6),
            st.floats(1, 20),
        ),
        max_size=40,
    ),
)  # fmt: skip
def test_no_word_is_in_two_cells(rules, words):
    page = PageContent(1, 600, 600, None, tuple(words), rules=tuple(rules))

    inside = [id(word) for table in find_tables(page) for word in words_of(table)]

    assert len(inside) == len(set(inside))
    assert set(inside) <= {id(word) for word in words}


@pytest.mark.skipif(not SHARED.is_dir(), reason="LEGALQA_SHARED_DATA holds no shared data")
def test_shared_table_over_two_pages():
    found = rows(parse_pdf((SHARED / "cases/files/pdf_table_pages.pdf").read_bytes()))

    row = next(row for row in found if "Norvia" in row)
    assert "Lodging (EUR): 171; Meals (EUR): 72" in row
    assert not [row for row in found if row.startswith("Country: Country")]
