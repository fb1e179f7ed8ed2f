"""Tables of Word files as lines, and tables that only lay out a page."""

from __future__ import annotations

from documents.records import BlockKind
from documents.tests.ingestion.docx_files import (
    cell,
    level,
    lists,
    p,
    parse,
    r,
    table,
    texts,
)

HEADER = "<w:trPr><w:tblHeader/></w:trPr>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr>{properties}{''.join(cells)}</w:tr>"


def bold(text: str) -> str:
    return p(r(text, "<w:b/>"))


def test_rows_carry_the_names_of_their_columns() -> None:
    head = row(cell("Role"), cell("Days"), properties=HEADER)
    marked = f"<w:tbl>{head}{row(cell('Clerk'), cell('25'))}</w:tbl>"
    by_weight = table([bold("Role"), bold("Duty")], ["Clerk", "Files"], ["Guard", "Watches"])
    by_figures = table(["Role", "Days"], ["Clerk", "25"], ["Guard", "€ 30"])
    document = parse(marked + p("and") + by_weight + p("and") + by_figures)

    assert texts(document) == [
        "Role: Clerk; Days: 25",
        "and",
        "Role: Clerk; Duty: Files",
        "Role: Guard; Duty: Watches",
        "and",
        "Role: Clerk; Days: 25",
        "Role: Guard; Days: € 30",
    ]
    assert document.blocks[0].kind is BlockKind.TABLE_ROW


def test_a_table_of_labels_has_no_header() -> None:
    body = table(["Owner", "Jane Doe"], ["Version", "two"]) + p("and")
    body += table([bold("Owner"), "Jane Doe"], [bold("Version"), "two"])

    assert texts(parse(body)) == [
        "Owner; Jane Doe", "Version; two", "and", "Owner: Jane Doe", "Version: two",
    ]  # fmt: skip


def test_a_title_row_stands_once_and_a_group_names_its_columns() -> None:
    wide = '<w:gridSpan w:val="3"/>'
    double = '<w:gridSpan w:val="2"/>'
    body = (
        "<w:tbl>"
        + row(cell("Pay in euros", wide))
        + row(cell(bold("Shift")), cell(bold("Pay"), double))
        + row(cell(bold("")), cell(bold("Weekday")), cell(bold("Sunday")))
        + row(cell("Night"), cell("22.10"), cell("33.15"))
        + row(cell("From May on", wide))
        + row(cell("Night"), cell("23.00"), cell("34.00"))
        + "</w:tbl>"
    )

    assert texts(parse(body)) == [
        "Pay in euros",
        "Shift: Night; Pay / Weekday: 22.10; Pay / Sunday: 33.15",
        "From May on",
        "Shift: Night; Pay / Weekday: 23.00; Pay / Sunday: 34.00",
    ]


def test_a_cell_that_spans_rows_is_repeated_and_its_hidden_rest_is_not_read() -> None:
    start, go_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    body = (
        "<w:tbl>"
        + row(cell("Grade"), cell("Step"), cell("Pay"), properties=HEADER)
        + row(cell("A", start), cell("1"), cell("10"))
        + row(cell("unseen", go_on), cell("2"), cell("20"))
        + row(cell("B"), cell("1"), cell("30"))
        + "</w:tbl>"
    )

    assert texts(parse(body)) == [
        "Grade: A; Step: 1; Pay: 10",
        "Grade: A; Step: 2; Pay: 20",
        "Grade: B; Step: 1; Pay: 30",
    ]


def test_rows_that_begin_or_end_early_keep_their_columns() -> None:
    late = '<w:trPr><w:gridBefore w:val="1"/></w:trPr>'
    body = (
        "<w:tbl>"
        + row(cell("A"), cell("B"), cell("C"), properties=HEADER)
        + row(cell("1"), cell("2"))
        + row(cell("3"), cell("4"), properties=late)
        + "</w:tbl>"
    )

    assert texts(parse(body)) == ["A: 1; B: 2", "B: 3; C: 4"]


def test_a_header_that_no_row_shows_is_not_lost() -> None:
    body = table([bold("Role"), bold("Note")], ["Clerk", ""], ["Guard", ""])

    assert texts(parse(body)) == ["Role; Note", "Role: Clerk", "Role: Guard"]


def test_one_cell_and_one_column_are_paragraphs() -> None:
    document = parse(table([p("Boxed.") + p("Twice.")]) + table(["a"], ["b"]))

    assert texts(document) == ["Boxed.", "Twice.", "a", "b"]
    assert {block.kind for block in document.blocks} == {BlockKind.PARAGRAPH}


def test_a_page_laid_out_in_a_table_keeps_its_headings() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/>'
        '<w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
    )
    body = table([p("Left", style="H") + p("Text left."), p("Right", style="H") + p("Text right.")])
    document = parse(body, parts={"styles": styles})

    assert texts(document) == ["Left", "Text left.", "Right", "Text right."]
    assert [block.level for block in document.blocks] == [1, None, 1, None]


def test_nested_tables_read_inside_their_cell() -> None:
    inner = table([bold("Size"), bold("Fee")], ["S", "1"], ["M", "2"])
    body = table([bold("Kind"), bold("Fees")], ["Parcel", inner + p("")], ["Letter", "3"])

    assert texts(parse(body)) == [
        "Kind: Parcel; Fees: Size: S; Fee: 1 Size: M; Fee: 2",
        "Kind: Letter; Fees: 3",
    ]


def test_clauses_laid_out_in_two_cells_are_clauses() -> None:
    long = "The contractor shall keep records of all work and show them on request."
    document = parse(table(["1.1", long], ["1.2", long], ["(a)", long]))

    assert texts(document) == [f"1.1 {long}", f"1.2 {long}", f"(a) {long}"]
    assert document.blocks[0].kind is BlockKind.PARAGRAPH


def test_numbers_in_cells_count_and_are_shown_alone() -> None:
    numbering = lists({0: level(0, "decimal", "%1.")}, {1: (0, "")})
    number = p(num=(1, 0))
    body = table([number, "first"], [number, "second"]) + p("third", num=(1, 0))

    assert texts(parse(body, parts={"numbering": numbering})) == [
        "1.; first", "2.; second", "3. third",
    ]  # fmt: skip


def test_notes_and_boxes_of_cells_follow_the_table() -> None:
    cite = p("25", '<w:r><w:footnoteReference w:id="2"/></w:r>')
    notes = f'<w:footnote w:id="2">{p("Less in the first year.")}</w:footnote>'
    body = table(["Role", "Days"], ["Clerk", cite]) + p("after")
    document = parse(body, parts={"footnotes": notes})

    assert texts(document) == ["Role: Clerk; Days: 25", "1 Less in the first year.", "after"]


def test_text_around_tables_keeps_its_place() -> None:
    row_control = f"<w:sdt><w:sdtContent>{row(cell('c'), cell('d'))}</w:sdtContent></w:sdt>"
    body = p("before") + f"<w:tbl>{row(cell('a'), cell('b'))}{row_control}</w:tbl>" + p("after")

    assert texts(parse(body)) == ["before", "a; b", "c; d", "after"]
