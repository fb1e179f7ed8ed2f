"""PDF: order, paragraphs, running heads, hyphens, notes, headings, boxes, and what is refused."""

from __future__ import annotations

import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from documents.errors import ParseError
from documents.ingestion.parsers.pdf import parse_pdf
from documents.ingestion.parsers.pdf.hyphens import HyphenJudge
from documents.ingestion.parsers.pdf.render import MAX_PIXELS, render_page
from documents.records import BlockKind, ParsedDocument
from documents.tests.ingestion.pdf_files import (
    HEIGHT,
    WIDTH,
    lines,
    locked,
    page_image,
    pdf,
    text,
    wrapped,
)

LEFT = (
    "Members borrow up to six items at a time and keep them for twenty-one days unless another "
    "member waits for one of them. A loan is renewed twice at the desk or by telephone. Items that "
    "are lost are paid for at the price of a new copy on the day of the report to the desk."
)
RIGHT = (
    "Late items cost a fee for each day that the desk is open. The fee stops at ten euros for an "
    "item and is paid before the next loan. Children pay half of every fee, and nobody pays for "
    "days on which the library was closed by order of the council or by the weather."
)
THIRD = (
    "Rooms are let to groups of members for two hours in the evening. Groups bring their own cups "
    "and leave the kitchen clean. The key goes back into the box beside the door, and the lights "
    "are turned off by whoever leaves last, whatever the hour may be on the clock outside."
)
FULL = (
    "This rule applies to all members of the library from the first day of the year, whatever the "
    "kind of their card may be, and replaces what was agreed before on loans, fees and rooms."
)


def parsed(*pages, **options) -> ParsedDocument:
    return parse_pdf(pdf(*pages, **options))


def paragraphs(document: ParsedDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def assert_exact(document: ParsedDocument) -> None:
    """Blocks are in order and apart; every box holds the words that its span says."""
    ends = [0, *(block.end for block in document.blocks)]
    for end, block in zip(ends, document.blocks, strict=False):
        assert end <= block.start < block.end
        body = document.text[block.start : block.end]
        assert body == body.strip()
    covered: set[int] = set()
    for page in document.pages:
        assert list(page.words) == sorted(page.words, key=lambda word: word.start)
        for word in page.words:
            assert document.text[word.start : word.end].strip()
            covered.update(range(word.start, word.end))
    for block in document.blocks:
        if block.kind is not BlockKind.TABLE_ROW:
            for index in range(block.start, block.end):
                assert index in covered or document.text[index].isspace()


def assert_read_or_refused(data: bytes) -> None:
    refusal = None
    try:
        assert_exact(parse_pdf(data))
    except ParseError as error:
        refusal = error
    if refusal is not None:
        assert refusal.code in {"refused", "empty", "needs_ocr", "encrypted"}
        assert "Traceback" not in refusal.message


class TestOrder:
    def test_columns_are_read_one_after_the_other_under_a_full_width_heading(self) -> None:
        def page(canvas: Canvas) -> None:
            text(
                canvas,
                60,
                60,
                "Rules of the library on loans, fees, rooms and all the rest",
                size=18,
            )
            lines(canvas, 60, 100, wrapped(LEFT, 40))
            lines(canvas, 320, 100, wrapped(RIGHT, 40))
            lines(canvas, 60, 300, wrapped(FULL, 85))

        document = parsed(page)
        assert paragraphs(document)[1:] == [LEFT, RIGHT, FULL]
        assert_exact(document)

    def test_three_columns_whose_lines_are_not_level(self) -> None:
        def page(canvas: Canvas) -> None:
            for x, top, words in ((40, 100, LEFT), (225, 105, RIGHT), (410, 97, THIRD)):
                lines(canvas, x, top, wrapped(words, 30), size=10)

        assert paragraphs(parsed(page)) == [LEFT, RIGHT, THIRD]

    def test_a_sentence_goes_on_in_the_next_column(self) -> None:
        def page(canvas: Canvas) -> None:
            found = wrapped(f"{LEFT} {RIGHT}", 40)
            lines(canvas, 60, 100, found[:8])
            lines(canvas, 320, 100, found[8:])

        assert paragraphs(parsed(page)) == [f"{LEFT} {RIGHT}"]

    def test_texts_side_by_side_stay_with_their_headings(self) -> None:
        def page(canvas: Canvas) -> None:
            for index, (one, two) in enumerate(((LEFT, RIGHT), (RIGHT, THIRD), (THIRD, LEFT))):
                top = 80 + 220 * index
                text(canvas, 60, top, f"Amendment {index + 1}", font="Helvetica-Bold")
                lines(canvas, 60, top + 40, wrapped(one, 40))
                lines(canvas, 320, top + 40, wrapped(two, 40))

        found = paragraphs(parsed(page))
        assert found == [
            "Amendment 1", LEFT, RIGHT, "Amendment 2", RIGHT, THIRD, "Amendment 3", THIRD, LEFT,
        ]  # fmt: skip

    def test_clauses_with_hanging_numbers_are_no_columns(self) -> None:
        def page(canvas: Canvas) -> None:
            for index, words in enumerate((LEFT, RIGHT, THIRD)):
                text(canvas, 60, 80 + 120 * index, f"{index + 1}.1")
                lines(canvas, 100, 80 + 120 * index, wrapped(words, 75))

        assert paragraphs(parsed(page)) == [f"1.1 {LEFT}", f"2.1 {RIGHT}", f"3.1 {THIRD}"]

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(
        gutter=st.integers(14, 60),
        size=st.sampled_from([8, 9, 10]),
        shift=st.floats(-6, 6),
        step=st.floats(1.15, 1.5),
    )
    def test_columns_of_any_setting_are_never_woven(
        self, gutter: int, size: int, shift: float, step: float
    ) -> None:
        def page(canvas: Canvas) -> None:
            column = wrapped(LEFT, 40)
            canvas.setFont("Helvetica", size)
            width = max(canvas.stringWidth(line, "Helvetica", size) for line in column)
            lines(canvas, 50, 100, column, size=size, step=step * size)
            lines(
                canvas, 50 + width + gutter, 100 + shift, wrapped(RIGHT, 40), size=size,
                step=step * size,
            )  # fmt: skip

        assert paragraphs(parsed(page)) == [LEFT, RIGHT]


class TestRunningLines:
    @staticmethod
    def book(count: int, body: str = LEFT, *, bare: frozenset[int] = frozenset()) -> bytes:
        def page(number: int):
            def draw(canvas: Canvas) -> None:
                if number not in bare:
                    head = "Harbour Trust" if number % 2 else "Staff Handbook, version 3"
                    text(canvas, 60 if number % 2 else 400, 30, head, size=8)
                    text(canvas, 60, 815, f"Page {number} of {count}", size=8)
                text(
                    canvas,
                    60,
                    80,
                    f"{number} Rule {chr(64 + number)}",
                    font="Helvetica-Bold",
                    size=14,
                )
                lines(canvas, 60, 110, wrapped(body, 80))

            return draw

        return pdf(*(page(number) for number in range(1, count + 1)))

    def test_heads_that_alternate_and_page_numbers_are_left_out(self) -> None:
        document = parse_pdf(self.book(8))
        assert "Harbour" not in document.text
        assert "Handbook" not in document.text
        assert "Page" not in document.text
        assert document.text.count(LEFT) == 8

    @pytest.mark.parametrize("bare", [frozenset({1}), frozenset({6}), frozenset({1, 6})])
    def test_the_first_and_the_last_page_may_lack_them(self, bare: frozenset[int]) -> None:
        document = parse_pdf(self.book(6, bare=bare))
        assert "Handbook" not in document.text
        assert "Page" not in document.text
        assert document.text.count(LEFT) == 6

    def test_body_text_that_repeats_once_is_kept(self) -> None:
        def page(number: int):
            def draw(canvas: Canvas) -> None:
                lines(canvas, 60, 60, ["Employees ask their manager first.", *wrapped(LEFT, 80)])

            return draw

        assert parsed(page(1), page(2)).text.count("Employees ask") == 2

    def test_a_sentence_runs_over_the_page_and_its_number(self) -> None:
        def first(canvas: Canvas) -> None:
            lines(canvas, 60, 700, ["Files are encrypted with AES-256 at rest."])
            lines(
                canvas,
                60,
                714,
                ["Keys are kept by the security team, changed once a year at least,"],
            )
            text(canvas, 290, 820, "4", size=9)

        def second(canvas: Canvas) -> None:
            lines(canvas, 60, 60, ["and in transit between the two data centres they are wrapped."])
            text(canvas, 290, 820, "5", size=9)

        document = parsed(first, second)
        assert "at least, and in transit" in document.text
        assert document.blocks[-1].page == 1
        assert {page.number for page in document.pages if page.words} == {1, 2}

    @pytest.mark.parametrize(
        "words", ["Annex {}", "CHAPTER {}", "Article {}", "§ {}", "{}.1 Scope"]
    )
    def test_headings_that_begin_every_page_are_no_running_heads(self, words: str) -> None:
        def page(number: int):
            def draw(canvas: Canvas) -> None:
                text(canvas, 60, 30, "Harbour Trust", size=8)
                text(canvas, 60, 60, words.format(number), font="Helvetica-Bold", size=14)
                lines(canvas, 60, 110, wrapped((LEFT, RIGHT, THIRD)[number % 3], 80))
                text(canvas, 290, 815, str(number), size=8)

            return draw

        found = paragraphs(parsed(*map(page, range(1, 6))))
        assert found[::2] == [words.format(number) for number in range(1, 6)]

    def test_a_chapter_named_on_each_of_its_pages_is_a_running_head(self) -> None:
        def page(number: int):
            def draw(canvas: Canvas) -> None:
                text(canvas, 60, 30, f"Chapter {1 + number // 4}", size=8)
                lines(canvas, 60, 110, wrapped((LEFT, RIGHT, THIRD)[number % 3], 80))

            return draw

        assert "Chapter" not in parsed(*map(page, range(8))).text

    def test_a_head_row_of_a_table_is_not_a_running_head(self) -> None:
        def page(start: int):
            def draw(canvas: Canvas) -> None:
                rows = [("Country", "Lodging", "Meals")] + [
                    (f"Land {start + i}", str(100 + start + i), str(30 + start + i))
                    for i in range(12)
                ]
                for index, row in enumerate(rows):
                    top = 60 + 20 * index
                    for column, value in enumerate(row):
                        canvas.rect(60 + 150 * column, HEIGHT - top - 6, 150, 20)
                        text(canvas, 66 + 150 * column, top, value)

            return draw

        document = parsed(page(1), page(20), page(40))
        rows = [p for p in paragraphs(document) if "Land" in p]
        assert len(rows) == 36
        assert all(row.startswith("Country: Land") and "Meals: " in row for row in rows)


class TestWords:
    @pytest.mark.parametrize(
        ("first", "second", "joined"),
        [
            ("The reim-", "bursement follows.", "The reimbursement follows."),
            ("Keys use AES-", "256 at least.", "Keys use AES-256 at least."),
            ("Bags pass the X-", "ray machine.", "Bags pass the X-ray machine."),
            ("A non-", "disclosure form is signed.", "A non-disclosure form is signed."),
            ("Read pre- and post-", "trip reports.", "Read pre- and post-trip reports."),
            ("All intra-", "and inter-office mail.", "All intra- and inter-office mail."),
            ("From Monday \u2013", "Friday only.", "From Monday \u2013 Friday only."),
        ],
    )
    def test_hyphens_at_line_ends(self, first: str, second: str, joined: str) -> None:
        assert paragraphs(parsed(lambda canvas: lines(canvas, 60, 80, [first, second]))) == [joined]

    def test_the_document_itself_decides_first(self) -> None:
        judge = HyphenJudge(
            ["we re-sign the long form here", "a cooperative is not a co-op at all"]
        )
        assert judge.keeps_hyphen("re", "sign")
        assert not judge.keeps_hyphen("coopera", "tive")
        assert judge.keeps_hyphen("co", "op")

    def test_letters_that_are_spaced_out_make_words(self) -> None:
        def page(canvas: Canvas) -> None:
            canvas.setFont("Helvetica", 14)
            canvas.drawString(60, 700, "PARENTAL LEAVE", charSpace=6)
            lines(canvas, 60, 180, wrapped(LEFT, 80))

        assert paragraphs(parsed(page))[0] == "PARENTAL LEAVE"

    def test_blanks_are_recovered_from_gaps(self) -> None:
        def page(canvas: Canvas) -> None:
            canvas.setFont("Times-Roman", 11)
            x = 60.0
            for word in ["Employees", "accrue", "fifteen", "days", "a", "year"]:
                canvas.drawString(x, 700, word)
                x += canvas.stringWidth(word, "Times-Roman", 11) + 2.6

        assert paragraphs(parsed(page)) == ["Employees accrue fifteen days a year"]

    def test_chinese_lines_join_without_blanks(self) -> None:
        pdfmetrics.registerFont(UnicodeCIDFont("MSung-Light"))

        def page(canvas: Canvas) -> None:
            canvas.setFont("MSung-Light", 12)
            canvas.drawString(60, 700, "第一條 員工每年得請特別休假十五日，但應於前七日向直屬主管")
            canvas.drawString(60, 682, "提出書面申請，並經核准後始得休假。")

        document = parsed(page)
        assert "主管提出書面申請" in document.text
        assert document.language == "zh-Hant"
        assert_exact(document)


class TestNotes:
    def test_marks_leave_the_text_and_notes_follow_their_paragraph(self) -> None:
        def page(canvas: Canvas) -> None:
            text(canvas, 60, 80, "The deposit is 500")
            canvas.setFont("Helvetica", 7)
            canvas.drawString(
                60 + canvas.stringWidth("The deposit is 500", "Helvetica", 11), HEIGHT - 76, "1"
            )
            text(canvas, 170, 80, "euros for every room in the house.")
            lines(canvas, 60, 120, wrapped(RIGHT, 80))
            text(canvas, 60, 760, "1 Furnished rooms: 800 euros.", size=8)

        found = paragraphs(parsed(page))
        assert found == [
            "The deposit is 500 euros for every room in the house.",
            "1 Furnished rooms: 800 euros.",
            RIGHT,
        ]

    def test_ordinals_and_units_keep_what_is_raised(self) -> None:
        def page(canvas: Canvas) -> None:
            text(canvas, 60, 80, "On the 1")
            text(canvas, 60 + canvas.stringWidth("On the 1", "Helvetica", 11), 76, "st", size=7)
            text(canvas, 120, 80, "of May rooms of 20 m")
            end = 120 + canvas.stringWidth("of May rooms of 20 m", "Helvetica", 11)
            text(canvas, end, 76, "2", size=7)
            text(canvas, end + 10, 80, "are free.")

        assert paragraphs(parsed(page)) == ["On the 1st of May rooms of 20 m² are free."]


class TestHeadings:
    def test_larger_type_makes_levels_but_the_title_and_contents_make_none(self) -> None:
        def contents(canvas: Canvas) -> None:
            text(canvas, 60, 60, "Leave Policy", size=22)
            for index, name in enumerate(("Purpose", "Carry-over")):
                text(canvas, 60, 120 + 16 * index, f"{index + 1} {name} {'.' * 60} {index + 2}")

        def rule(number: int, name: str):
            def draw(canvas: Canvas) -> None:
                text(canvas, 60, 60, f"{number} {name}", size=15)
                lines(canvas, 60, 90, wrapped(LEFT, 80))

            return draw

        document = parsed(contents, rule(1, "Purpose"), rule(2, "Carry-over"))
        found = [
            (document.text[b.start : b.end], b.level)
            for b in document.blocks
            if b.kind is BlockKind.HEADING
        ]
        assert found == [("1 Purpose", 1), ("2 Carry-over", 1)]
        assert document.title == "Leave Policy"

    def test_the_outline_names_headings_in_body_type(self) -> None:
        names = ("Scope of the rule", "Who decides", "When it ends", "Who may appeal")

        def page(name: str):
            def draw(canvas: Canvas) -> None:
                canvas.bookmarkPage(name)
                canvas.addOutlineEntry(name, name, level=0 if name == names[0] else 1)
                text(canvas, 60, 60, name)
                lines(canvas, 60, 90, wrapped(RIGHT, 80))

            return draw

        document = parsed(*(page(name) for name in names))
        found = [b.level for b in document.blocks if b.kind is BlockKind.HEADING]
        assert found == [1, 2, 2, 2]

    def test_bold_lines_are_flagged(self) -> None:
        def page(canvas: Canvas) -> None:
            text(canvas, 60, 60, "Appeals", font="Helvetica-Bold")
            lines(canvas, 60, 76, wrapped(RIGHT, 80))

        first, second = parsed(page).blocks
        assert "bold" in first.flags
        assert "bold" not in second.flags


class TestPlaces:
    @pytest.mark.parametrize("rotation", [0, 90, 180, 270])
    def test_boxes_are_on_the_page_as_shown(self, rotation: int) -> None:
        def page(canvas: Canvas) -> None:
            # reportlab gives the size as shown, so the sheet itself is 842 by 595 points then.
            canvas.setPageRotation(rotation)
            lines(canvas, 60, 350, wrapped(LEFT, 80))

        data = pdf(page)
        document = parse_pdf(data)
        assert paragraphs(document) == [LEFT]
        (record,) = document.pages
        assert (record.width, record.height) == pytest.approx((WIDTH, HEIGHT), abs=0.1)
        self.assert_ink_in_boxes(data, document)

    @staticmethod
    def assert_ink_in_boxes(data: bytes, document: ParsedDocument) -> None:
        (record,) = document.pages
        image = Image.open(io.BytesIO(render_page(data, 1, 2.0))).convert("L")
        scale = image.width / record.width
        for word in record.words:
            left, top, right, bottom = (int(side * scale) for side in word.box)
            darkest = min(image.crop((left, top, right + 1, bottom + 1)).tobytes())
            assert darkest < 128

    @pytest.mark.parametrize("angle", [90, 180, 270])
    def test_a_page_set_sideways_is_read(self, angle: int) -> None:
        def page(canvas: Canvas) -> None:
            canvas.translate(WIDTH / 2, HEIGHT / 2)
            canvas.rotate(angle)
            canvas.translate(-WIDTH / 2, -HEIGHT / 2)
            lines(canvas, 150, 300, wrapped(LEFT, 55))

        data = pdf(page)
        document = parse_pdf(data)
        assert paragraphs(document) == [LEFT]
        self.assert_ink_in_boxes(data, document)

    def test_text_in_the_margin_stays_out_of_the_sentences(self) -> None:
        def page(canvas: Canvas) -> None:
            lines(canvas, 60, 80, wrapped(LEFT, 80))
            canvas.rotate(90)
            canvas.setFont("Helvetica", 9)
            canvas.drawString(500, -30, "Printed in March")

        assert paragraphs(parsed(page)) == [LEFT, "Printed in March"]

    def test_a_cropped_page_measures_from_its_crop_box(self) -> None:
        def page(canvas: Canvas) -> None:
            canvas.setCropBox((50, 400, 550, 800))
            lines(canvas, 60, 80, wrapped(LEFT, 80))

        data = pdf(page)
        document = parse_pdf(data)
        assert (document.pages[0].width, document.pages[0].height) == (500, 400)
        self.assert_ink_in_boxes(data, document)


class TestOutcomes:
    def test_a_scan_needs_text_recognition(self) -> None:
        with pytest.raises(ParseError) as raised:
            parsed(page_image, page_image)
        assert raised.value.code == "needs_ocr"
        assert "1, 2" in raised.value.message
        assert "text" in raised.value.message

    def test_few_pages_without_text_are_a_warning_with_their_numbers(self) -> None:
        def words(canvas: Canvas) -> None:
            lines(canvas, 60, 80, wrapped(LEFT, 80))

        document = parsed(words, page_image, words, words)
        notice = next(n for n in document.warnings if n.code == "pages_without_text")
        assert notice.pages == (2,)

    def test_half_the_pages_without_text_are_refused(self) -> None:
        def words(canvas: Canvas) -> None:
            lines(canvas, 60, 80, wrapped(LEFT, 80))

        with pytest.raises(ParseError) as raised:
            parsed(words, page_image, lambda canvas: None)
        assert raised.value.code == "needs_ocr"

    def test_a_password_is_named(self) -> None:
        data = pdf(lambda canvas: text(canvas, 60, 80, "Secret"), encrypt=locked("open-me"))
        with pytest.raises(ParseError) as raised:
            parse_pdf(data)
        assert raised.value.code == "encrypted"
        assert "password" in raised.value.message

    def test_a_file_that_only_its_owner_may_change_is_read(self) -> None:
        data = pdf(lambda canvas: text(canvas, 60, 80, "Open to all readers"), encrypt=locked(""))
        assert parse_pdf(data).text == "Open to all readers"

    def test_progress_counts_pages(self) -> None:
        seen: list[tuple[int, int]] = []
        data = pdf(*[lambda canvas: text(canvas, 60, 80, "Some words")] * 3)
        parse_pdf(data, progress=lambda done, total: seen.append((done, total)))
        assert seen == [(1, 3), (2, 3), (3, 3)]

    @settings(max_examples=60, deadline=None)
    @given(st.binary(max_size=400))
    def test_any_bytes_are_refused_or_read(self, data: bytes) -> None:
        assert_read_or_refused(b"%PDF-1.7\n" + data)

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.data())
    def test_a_damaged_file_is_refused_or_read(self, data: st.DataObject) -> None:
        whole = pdf(lambda canvas: lines(canvas, 60, 80, wrapped(LEFT, 80)), pageCompression=0)
        broken = bytearray(whole[: data.draw(st.integers(200, len(whole)))])
        for _ in range(data.draw(st.integers(0, 6))):
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
        assert_read_or_refused(bytes(broken))


class TestRender:
    def test_a_page_becomes_a_png_of_its_size(self) -> None:
        data = pdf(lambda canvas: text(canvas, 60, 80, "Some words"))
        image = Image.open(io.BytesIO(render_page(data, 1, 2.0)))
        assert image.format == "PNG"
        assert image.size == (round(WIDTH * 2 + 0.3), round(HEIGHT * 2 + 0.3))

    def test_an_enormous_scale_is_lowered(self) -> None:
        data = pdf(lambda canvas: text(canvas, 60, 80, "Some words"))
        image = Image.open(io.BytesIO(render_page(data, 1, 400.0)))
        assert image.width * image.height <= MAX_PIXELS * 1.01

    @pytest.mark.parametrize("number", [0, -1, 2])
    def test_a_page_that_does_not_exist_is_refused(self, number: int) -> None:
        data = pdf(lambda canvas: text(canvas, 60, 80, "Some words"))
        with pytest.raises(ParseError):
            render_page(data, number, 1.0)
