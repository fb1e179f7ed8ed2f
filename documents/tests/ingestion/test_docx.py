"""What of a Word file is text, what is hidden, and what is said about it."""

from __future__ import annotations

import io
import zipfile

import pytest
from docx import Document as new_document
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.parsers.docx import parse_docx
from documents.records import BlockKind
from documents.tests.ingestion.docx_files import (
    archive,
    docx,
    field,
    level,
    lists,
    p,
    parse,
    r,
    texts,
    warnings,
)

HEADINGS = "".join(
    f'<w:style w:type="paragraph" w:styleId="H{n}"><w:name w:val="heading {n}"/>'
    f'<w:pPr><w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>'
    for n in range(1, 10)
)


def one(body: str, **options: object) -> str:
    """The text of a file, on one line."""
    return parse(body, **options).text


# Text.


def test_runs_tabs_breaks_and_hyphens() -> None:
    body = p(
        r("Pay"), '<w:r><w:tab/><w:t>18</w:t><w:noBreakHyphen/><w:t>20 eu</w:t><w:softHyphen/>'
        '<w:t>ros</w:t><w:br/><w:t>a day</w:t></w:r>',
    )  # fmt: skip

    assert one(body) == "Pay 18-20 euros\na day"


def test_symbols_are_characters_and_raised_figures_are_their_own() -> None:
    box = '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'
    greek = '<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>'
    raised = r("2", '<w:vertAlign w:val="superscript"/>')

    assert one(p(box, " yes ", greek, ", 5 m", raised)) == "☑ yes α, 5 m²"


def test_fields_show_their_result_and_never_their_instruction() -> None:
    nested = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>IF </w:instrText></w:r>'
        f"{field('DOCPROPERTY X', 'secret')}"
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        f'{r("shown")}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    simple = f'<w:fldSimple w:instr="REF x">{r(" clause 4")}</w:fldSimple>'
    document = parse(p(field("REF _1", "See"), simple, " ", nested, "."))

    assert document.text == "See clause 4 shown."
    assert not document.warnings


def test_a_field_without_result_is_named() -> None:
    document = parse(p("Fee: ", field("DOCPROPERTY Fee", None), field("XE index", None)))

    (notice,) = document.warnings
    assert notice.code == "fields_without_result"
    assert "DOCPROPERTY" in notice.message
    assert "XE" not in notice.message


def test_a_field_mark_without_its_partner_loses_no_text() -> None:
    lone = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF</w:instrText></w:r>'

    assert one(p(lone, "kept") + p("and this")) == "kept\n\nand this"


def test_form_fields_show_what_is_chosen() -> None:
    def form(data: str, code: str) -> str:
        return (
            f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
            f"<w:r><w:instrText>{code}</w:instrText></w:r>"
            '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        )

    checked = form('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>', "FORMCHECKBOX")
    empty = form('<w:checkBox><w:default w:val="0"/></w:checkBox>', "FORMCHECKBOX")
    choice = form(
        '<w:ddList><w:result w:val="1"/><w:listEntry w:val="A"/><w:listEntry w:val="B"/>'
        "</w:ddList>",
        "FORMDROPDOWN",
    )

    assert one(p(checked, " yes ", empty, " no ", choice)) == "☒ yes ☐ no B"


def test_a_generated_table_of_contents_is_left_out() -> None:
    styles = (
        HEADINGS + '<w:style w:type="paragraph" w:styleId="T"><w:name w:val="toc 1"/></w:style>'
    )
    entry = "<w:r><w:t>1 Scope</w:t><w:tab/><w:t>3</w:t></w:r>"
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC \\o</w:instrText>'
    contents = p(f'{begin}</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{entry}', style="T")
    end = p('<w:r><w:fldChar w:fldCharType="end"/></w:r>')
    inside = p("A paragraph that someone put inside the field.")
    body = contents + p(entry, style="T") + inside + end + p("1 Scope", style="H1") + p("Text.")

    assert texts(parse(body, parts={"styles": styles})) == [
        "A paragraph that someone put inside the field.",
        "1 Scope",
        "Text.",
    ]


def test_links_tags_and_controls_are_looked_through_but_not_what_asks_to_be_filled_in() -> None:
    link = f'<w:hyperlink r:id="rId9">{r("link")}</w:hyperlink>'
    tag = f'<w:smartTag w:element="x"><w:smartTagPr/>{r(" tag")}</w:smartTag>'
    control = f"<w:sdt><w:sdtPr/><w:sdtContent>{r(' control')}</w:sdtContent></w:sdt>"
    asking = control.replace("<w:sdtPr/>", "<w:sdtPr><w:showingPlcHdr/></w:sdtPr>")
    block = f"<w:sdt><w:sdtContent>{p('block')}</w:sdtContent></w:sdt>"

    assert texts(parse(p(link, tag, control, asking) + block)) == ["link tag control", "block"]


def test_equations_and_ruby() -> None:
    fraction = (
        "<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num>"
        "<m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
    )
    ruby = f"<w:r><w:ruby><w:rt>{r('かん')}</w:rt><w:rubyBase>{r('漢')}</w:rubyBase></w:ruby></w:r>"

    assert one(p("x = ", fraction) + p(ruby, "字")) == "x = (a+b)/2\n\n漢字"


def test_one_branch_of_alternate_content_is_read() -> None:
    def box(text: str, kind: str) -> str:
        inner = f"<w:txbxContent>{p(text)}</w:txbxContent>"
        if kind == "new":
            return f"<w:drawing><wps:wsp><wps:txbx>{inner}</wps:txbx></wps:wsp></w:drawing>"
        return f"<w:pict><v:shape><v:textbox>{inner}</v:textbox></v:shape></w:pict>"

    both = (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps">{box("boxed", "new")}</mc:Choice>'
        f"<mc:Fallback>{box('boxed', 'old')}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    unknown = both.replace('Requires="wps"', 'xmlns:zz="urn:zz" Requires="zz"').replace(
        "boxed", "again"
    )

    assert texts(parse(p("before", both, unknown) + p("after"))) == [
        "before",
        "boxed",
        "again",
        "after",
    ]


# Tracked changes.


def test_changes_are_read_as_accepted() -> None:
    removed = '<w:del w:id="1"><w:r><w:delText>three</w:delText></w:r></w:del>'
    added = f'<w:ins w:id="2">{r("six")}</w:ins>'
    moved = (
        f'<w:moveFrom w:id="3">{r(" here")}</w:moveFrom><w:moveTo w:id="4">{r(" there")}</w:moveTo>'
    )
    document = parse(p("Lasts ", removed, added, moved, "."))

    assert document.text == "Lasts six there."
    assert warnings(document) == {"has_tracked_changes"}


def test_a_removed_paragraph_mark_joins_two_paragraphs_with_the_properties_of_the_second() -> None:
    mark = '<w:rPr><w:del w:id="1"/></w:rPr>'
    body = p("Leave ", properties=mark) + p("is granted", style="H1") + p("Next.")
    document = parse(body, parts={"styles": HEADINGS})

    assert texts(document) == ["Leave is granted", "Next."]
    assert document.blocks[0].kind is BlockKind.HEADING


def test_rows_and_cells_that_are_removed_are_left_out() -> None:
    def row(cells: str, properties: str = "") -> str:
        return f"<w:tr>{properties}{cells}</w:tr>"

    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text)}</w:tc>"

    body = (
        "<w:tbl>"
        + row(cell("a") + cell("b") + cell("c", '<w:cellDel w:id="1"/>'))
        + row(cell("gone") + cell("gone"), '<w:trPr><w:del w:id="2"/></w:trPr>')
        + row(cell("d") + cell("e"), '<w:trPr><w:ins w:id="3"/></w:trPr>')
        + "</w:tbl>"
    )
    document = parse(body + p("end"))

    assert texts(document) == ["a; b", "d; e", "end"]
    assert "has_tracked_changes" in warnings(document)


def test_comments_are_left_out_and_named() -> None:
    mark = '<w:r><w:commentReference w:id="0"/></w:r>'
    comment = f'<w:comment w:id="0" w:author="a">{p("internal")}</w:comment>'
    document = parse(p("Text", mark), parts={"comments": comment})

    assert document.text == "Text"
    assert not document.hidden
    assert warnings(document) == {"has_comments"}


# Hidden text.


@pytest.mark.parametrize(
    ("properties", "where"),
    [
        ("<w:vanish/>", "hidden"),
        ('<w:rStyle w:val="Hide"/>', "hidden"),
        ('<w:color w:val="FFFFFF"/>', "white"),
        ('<w:color w:val="FEFEFE"/>', "white"),
        ('<w:color w:themeColor="background1"/>', "white"),
        ('<w:color w:val="000000"/><w:shd w:val="clear" w:fill="000000"/>', "white"),
        ('<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>', "white"),
        ('<w:sz w:val="2"/>', "tiny"),
        ("<w14:textFill><w14:noFill/></w14:textFill>", "white"),
    ],
)
def test_text_that_nobody_sees_is_kept_apart(properties: str, where: str) -> None:
    styles = (
        '<w:style w:type="character" w:styleId="Hide"><w:name w:val="Hide"/>'
        "<w:rPr><w:vanish/></w:rPr></w:style>"
    )
    document = parse(p("Shown.", r("Not shown.", properties)), parts={"styles": styles})

    assert document.text == "Shown."
    assert [(item.text, item.where) for item in document.hidden] == [("Not shown.", where)]
    assert "hidden_text" in warnings(document)


@pytest.mark.parametrize(
    "properties",
    [
        '<w:vanish w:val="0"/>',
        '<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>',
        '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="1F3864"/>',
        '<w:color w:val="auto"/>',
        '<w:color w:val="A6A6A6"/>',
        '<w:sz w:val="12"/>',
        "<w:webHidden/>",
    ],
)
def test_text_that_can_be_seen_stays(properties: str) -> None:
    document = parse(p(r("Shown.", properties)))

    assert document.text == "Shown."
    assert not document.hidden


def test_white_text_on_a_dark_cell_or_in_a_style_with_shading_is_seen() -> None:
    white = p(r("Head", '<w:color w:val="FFFFFF"/>'))
    dark = f'<w:tc><w:tcPr><w:shd w:val="clear" w:fill="4472C4"/></w:tcPr>{white}</w:tc>'
    plain = f"<w:tc>{white}</w:tc>"
    styles = (
        '<w:style w:type="table" w:styleId="T"><w:name w:val="T"/><w:tblStylePr w:type="firstRow">'
        '<w:tcPr><w:shd w:val="clear" w:fill="4472C4"/></w:tcPr></w:tblStylePr></w:style>'
    )
    row = "<w:tr><w:tc><w:p/></w:tc>{}</w:tr>"
    styled = f'<w:tbl><w:tblPr><w:tblStyle w:val="T"/></w:tblPr>{row.format(plain)}</w:tbl>'
    body = f"<w:tbl>{row.format(dark)}</w:tbl>" + styled + f"<w:tbl>{row.format(plain)}</w:tbl>"
    document = parse(body + p("end"), parts={"styles": styles})

    assert texts(document) == ["Head", "Head", "end"]
    assert [item.where for item in document.hidden] == ["white"]


def test_a_switch_in_both_styles_is_off_again() -> None:
    """A hidden character style in a hidden paragraph style is shown (17.7.3)."""
    styles = (
        '<w:style w:type="paragraph" w:styleId="P"><w:name w:val="P"/><w:rPr><w:vanish/></w:rPr>'
        '</w:style><w:style w:type="character" w:styleId="C"><w:name w:val="C"/>'
        "<w:rPr><w:vanish/></w:rPr></w:style>"
    )
    body = p(r("seen", '<w:rStyle w:val="C"/>'), r("unseen"), style="P") + p("end")
    document = parse(body, parts={"styles": styles})

    assert texts(document) == ["seen", "end"]
    assert [item.text for item in document.hidden] == ["unseen"]


def test_headers_footers_and_descriptions_are_kept_apart() -> None:
    picture = (
        '<w:r><w:drawing><wp:inline><wp:docPr id="1" descr="A plan"/></wp:inline></w:drawing></w:r>'
    )
    document = parse(p("Text", picture), parts={"header": p("Draft 3"), "footer": p("Page 1")})

    assert document.text == "Text"
    assert {(item.text, item.where) for item in document.hidden} == {
        ("A plan", "alt_text"),
        ("Draft 3", "header"),
        ("Page 1", "footer"),
    }
    assert document.metadata["header"] == "Draft 3"
    assert not document.warnings


def test_struck_text_stays_and_is_named() -> None:
    document = parse(p(r("Old rule.", "<w:strike/>")) + p("New rule."))

    assert texts(document) == ["Old rule.", "New rule."]
    assert "struck" in document.blocks[0].flags
    assert warnings(document) == {"struck_text"}


def test_a_box_off_the_page_is_hidden() -> None:
    inner = (
        f"<wps:wsp><wps:txbx><w:txbxContent>{p('far away')}</w:txbxContent></wps:txbx></wps:wsp>"
    )
    anchor = (
        "<w:r><w:drawing><wp:anchor><wp:positionH><wp:posOffset>-99999999</wp:posOffset>"
        f"</wp:positionH>{inner}</wp:anchor></w:drawing></w:r>"
    )
    document = parse(p("Text", anchor))

    assert document.text == "Text"
    assert [(item.text, item.where) for item in document.hidden] == [("far away", "off_page")]


# Notes.


def test_notes_follow_the_paragraph_that_cites_them_with_their_mark() -> None:
    def note(key: int, text: str, kind: str = "footnote") -> str:
        return f'<w:{kind} w:id="{key}">{p(f"<w:r><w:{kind}Ref/></w:r>", " " + text)}</w:{kind}>'

    cite = '<w:r><w:{0}Reference w:id="{1}"/></w:r>'
    typed = '<w:r><w:footnoteReference w:customMarkFollows="1" w:id="3"/><w:t>*</w:t></w:r>'
    body = p(
        "Leave is 45", cite.format("footnote", 2), " days", cite.format("endnote", 2), "."
    ) + p("Typed", typed, " mark", cite.format("footnote", 4))
    separator = f'<w:footnote w:type="separator" w:id="0">{p()}</w:footnote>'
    document = parse(
        body,
        parts={
            "footnotes": separator + note(2, "First.") + note(3, "Second.") + note(4, "Third."),
            "endnotes": note(2, "Last.", "endnote"),
        },
    )

    kinds = [block.kind.value for block in document.blocks]
    assert list(zip(kinds, texts(document), strict=True)) == [
        ("paragraph", "Leave is 45 days."),
        ("footnote", "1 First."),
        ("footnote", "i Last."),
        ("paragraph", "Typed mark"),
        ("footnote", "* Second."),
        ("footnote", "2 Third."),
    ]  # fmt: skip


def test_notes_of_a_removed_sentence_are_left_out() -> None:
    gone = '<w:del w:id="1"><w:r><w:footnoteReference w:id="2"/></w:r></w:del>'
    notes = f'<w:footnote w:id="2">{p("Gone.")}</w:footnote>'

    assert one(p("Text", gone), parts={"footnotes": notes}) == "Text"


# Headings and titles.


def test_headings_by_outline_level_through_styles_and_on_the_paragraph() -> None:
    styles = HEADINGS + (
        '<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Klausel"/>'
        '<w:basedOn w:val="H2"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Named"><w:name w:val="Überschrift 3"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Off"><w:name w:val="Off"/><w:basedOn w:val="H1"/>'
        '<w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>'
    )
    direct = p("Direct", properties='<w:outlineLvl w:val="4"/>')
    body = (
        p("One", style="H1") + p("Own", style="Own") + p("Named", style="Named") + direct
        + p("Off", style="Off") + p("Undefined", style="heading 2")
    )  # fmt: skip
    document = parse(body, parts={"styles": styles})

    assert [block.level for block in document.blocks] == [1, 2, 3, 5, None, 2]


def test_a_whole_clause_in_a_heading_style_stays_text_with_its_number() -> None:
    clause = "The supplier shall deliver the goods within thirty days of each written order, and "
    clause += "shall bear all costs of doing so."
    numbering = lists({0: level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2")}, {1: (0, "")})
    body = p("Delivery", style="H1", num=(1, 0)) + p(clause, style="H2", num=(1, 1))
    document = parse(body, parts={"styles": HEADINGS, "numbering": numbering})

    heading, item = document.blocks
    assert (heading.kind, heading.level, heading.number) == (BlockKind.HEADING, 1, "1")
    assert (item.kind, item.number) == (BlockKind.LIST_ITEM, "1.1")
    assert texts(document)[1] == f"1.1 {clause}"


def test_the_title_is_the_title() -> None:
    styles = (
        HEADINGS + '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>'
    )
    document = parse(p("Travel policy", style="Title") + p("Text."), parts={"styles": styles})

    assert document.title == "Travel policy"
    assert document.blocks[0].kind is BlockKind.PARAGRAPH


def test_a_bold_paragraph_is_flagged() -> None:
    document = parse(p(r("Scope", "<w:b/>")) + p(r("Not ", "<w:b/>"), "all"))

    assert ["bold" in block.flags for block in document.blocks] == [True, False]


# The package.


def test_the_main_part_is_found_by_its_relationship_in_strict_files_too() -> None:
    data = docx(p("Text."), main="custom/main.xml")
    assert parse_docx(data).text == "Text."

    strict = docx(p("Text.", style="H1"), parts={"styles": HEADINGS})
    common, iso = "http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/"
    for subject in ("wordprocessingml/2006/main", "officeDocument/2006/relationships"):
        strict = _replaced(strict, common + subject, iso + subject.replace("/2006", ""))
    assert parse_docx(strict).blocks[0].level == 1


def test_metadata_and_language() -> None:
    file = new_document()
    file.core_properties.title = "Leave"
    file.core_properties.author = "People team"
    file.add_paragraph("The leave of staff is that which this policy and the law give to them.")
    buffer = io.BytesIO()
    file.save(buffer)
    document = parse_docx(buffer.getvalue())

    assert (document.title, document.language) == ("Leave", "en")
    assert document.metadata["author"] == "People team"


def test_pictures_without_text_need_recognition() -> None:
    picture = "<w:r><w:drawing/></w:r>"
    with pytest.raises(ParseError) as raised:
        parse(p(picture), links=[("image", "media/i.png", "")], extra={"word/media/i.png": b"x"})
    assert raised.value.code == "needs_ocr"


def test_blanks_are_no_text() -> None:
    with pytest.raises(ParseError) as raised:
        parse(p("\u00a0 \u200b") + p())
    assert raised.value.code == "empty"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.data_too_large])
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"])), max_size=12))
def test_spans_are_exact_and_in_order(paragraphs: list[str]) -> None:
    document = parse(p("First.") + "".join(p(r(text)) for text in paragraphs))
    end = 0
    for block in document.blocks:
        assert end <= block.start < block.end <= len(document.text)
        assert document.text[end : block.start].strip() == ""
        end = block.end
    kept = "First." + "".join(
        "".join(paragraphs).replace("\u00ad", "").replace("\u200b", "").split()
    )
    assert "".join(document.text.split()) == kept


def _replaced(data: bytes, old: str, new: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    return archive({name: part.replace(old.encode(), new.encode()) for name, part in parts.items()})


# Further traps.


def test_text_of_lines_rows_and_frames_that_show_nothing_is_hidden() -> None:
    flat = p("flat", properties='<w:spacing w:line="1" w:lineRule="exact"/>')
    away = p("away", properties='<w:framePr w:x="-40000" w:y="1"/>')
    narrow = p(r("narrow", '<w:w w:val="1"/>'))
    row = '<w:tr><w:trPr><w:trHeight w:val="1" w:hRule="exact"/></w:trPr>{0}{0}</w:tr>'
    low = f"<w:tbl>{row.format('<w:tc>' + p('low') + '</w:tc>')}</w:tbl>"
    document = parse(p("Text") + flat + away + narrow + low)

    assert document.text == "Text"
    assert [(item.text, item.where) for item in document.hidden] == [
        ("flat", "tiny"), ("away", "off_page"), ("narrow", "tiny"), ("low", "hidden"),
        ("low", "hidden"),
    ]  # fmt: skip


def test_notes_count_as_their_section_says_and_the_section_says_so_at_its_end() -> None:
    def section(properties: str) -> str:
        return f"<w:sectPr><w:footnotePr>{properties}</w:footnotePr></w:sectPr>"

    def cite(key: int, properties: str = "") -> str:
        mark = f'<w:r><w:footnoteReference w:id="{key}"/></w:r>'
        return p("x", mark, properties=properties)

    first = section('<w:numFmt w:val="upperLetter"/><w:numStart w:val="3"/>')
    second = section('<w:numRestart w:val="eachSect"/>')
    body = cite(1) + cite(2, first) + cite(3) + second
    notes = "".join(f'<w:footnote w:id="{key}">{p("note")}</w:footnote>' for key in (1, 2, 3))
    document = parse(body, parts={"footnotes": notes})

    assert texts(document)[1::2] == ["C note", "D note", "1 note"]


def test_articles_that_run_through_all_chapters_are_cited_without_their_chapter() -> None:
    levels = (
        level(0, "chineseCountingThousand", "第%1章")
        + level(1, "chineseCountingThousand", "第%2條", extra='<w:lvlRestart w:val="0"/>')
        + level(2, "chineseCountingThousand", "%3、")
    )
    numbering = lists({0: levels}, {1: (0, "")})
    body = "".join(p("x", num=(1, n)) for n in (0, 1, 0, 1, 2))
    document = parse(body, parts={"numbering": numbering})

    assert [block.number for block in document.blocks] == [
        "第一章", "第一條", "第二章", "第二條", "第二條一",
    ]  # fmt: skip


def test_a_heading_that_runs_into_its_paragraph_is_a_heading() -> None:
    """Word's style separator: the mark of the heading is hidden, its words are not."""
    mark = "<w:rPr><w:vanish/><w:specVanish/></w:rPr>"
    numbering = lists({0: level(0, "decimal", "%1.")}, {1: (0, "")})
    body = p("Term.", style="H1", num=(1, 0), properties=mark) + p("It lasts a year.")
    document = parse(body, parts={"styles": HEADINGS, "numbering": numbering})

    assert texts(document) == ["1. Term.", "It lasts a year."]
    assert document.blocks[0].kind is BlockKind.HEADING


def test_white_text_in_a_filled_shape_is_seen_and_in_an_open_one_is_not() -> None:
    def shape(fill: str, text: str) -> str:
        white = p(r(text, '<w:color w:val="FFFFFF"/>'))
        box = f"<w:txbxContent>{white}</w:txbxContent>"
        return (
            f"<w:r><w:drawing><wps:wsp><wps:spPr>{fill}</wps:spPr><wps:txbx>{box}</wps:txbx>"
            "</wps:wsp></w:drawing></w:r>"
        )

    filled = shape('<a:solidFill><a:srgbClr val="203864"/></a:solidFill>', "seen")
    document = parse(p("Text", filled, shape("<a:noFill/>", "unseen")))

    assert texts(document) == ["Text", "seen"]
    assert [item.text for item in document.hidden] == ["unseen"]


def test_a_box_inside_a_removed_run_is_gone_and_a_table_in_a_box_is_read() -> None:
    inner = "<w:tbl><w:tr><w:tc>{0}</w:tc><w:tc>{0}</w:tc></w:tr></w:tbl>".format(p("a"))
    box = f"<w:r><w:pict><v:shape><v:textbox><w:txbxContent>{inner}</w:txbxContent></v:textbox>"
    box += "</v:shape></w:pict></w:r>"

    assert texts(parse(p("Text", box, f'<w:del w:id="1">{box}</w:del>'))) == ["Text", "a; a"]


def test_a_field_over_several_paragraphs_and_its_nested_text() -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    begin += "<w:r><w:instrText>IF 1 = 1 </w:instrText></w:r>"
    inside = p(begin, "in the instruction") + p(
        "still", '<w:r><w:fldChar w:fldCharType="separate"/></w:r>', "shown"
    )
    end = p("more", '<w:r><w:fldChar w:fldCharType="end"/></w:r>', " after")

    assert texts(parse(inside + end)) == ["shown", "more after"]


def test_line_breaks_of_the_xml_are_blanks() -> None:
    assert one("<w:p><w:r><w:t>one\n   two</w:t></w:r></w:p>") == "one two"


def test_a_typed_list_of_contents_keeps_its_tabs_for_the_structure() -> None:
    entry = "<w:r><w:t>1 Scope</w:t><w:tab/><w:t>3</w:t></w:r>"

    assert one(p(entry) + p("1 Scope")) == "1 Scope\t3\n\n1 Scope"


def test_right_to_left_text_keeps_its_order() -> None:
    words = '<w:bdo w:val="rtl"><w:r><w:rPr><w:rtl/></w:rPr><w:t>سياسة الإجازات</w:t></w:r></w:bdo>'

    assert one(p(words, properties="<w:bidi/>")) == "سياسة الإجازات"


def test_a_chart_is_named_as_not_read() -> None:
    document = parse(
        p("Text"), links=[("chart", "charts/c.xml", "")], extra={"word/charts/c.xml": "<c/>"}
    )

    assert warnings(document) == {"content_not_read"}


def test_the_words_of_a_diagram_are_read() -> None:
    namespace = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    data = (
        f'<dgm:dataModel xmlns:dgm="{namespace}" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        "<dgm:pt><dgm:t><a:p><a:r><a:t>Report</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>"
    )
    drawing = f'<w:r><w:drawing><dgm:relIds xmlns:dgm="{namespace}" r:dm="rId1"/></w:drawing></w:r>'
    document = parse(
        p("Steps:", drawing), links=[("diagramData", "d.xml", "")], extra={"word/d.xml": data}
    )

    assert sorted(texts(document)) == ["Report", "Steps:"]


def test_a_schedule_counts_for_itself() -> None:
    restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    numbering = lists(
        {
            0: level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2"),
            1: level(0, "decimal", "Schedule %1"),
        },
        {1: (0, ""), 2: (1, ""), 3: (0, restart)},
    )
    body = (
        p("Term", style="H1", num=(1, 0)) + p("x", num=(1, 1))
        + p("Fees", style="H1", num=(2, 0)) + p("x", num=(3, 0)) + p("x", num=(3, 1))
    )  # fmt: skip
    document = parse(body, parts={"styles": HEADINGS, "numbering": numbering})

    assert [block.number for block in document.blocks] == [
        "1", "1.1", "Schedule 1", "Schedule 1 1", "Schedule 1 1.1",
    ]  # fmt: skip
