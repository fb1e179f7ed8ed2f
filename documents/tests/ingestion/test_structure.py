from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.numbering import Scheme, parse_label
from documents.ingestion.numerals import han_value, roman_value
from documents.ingestion.parsers import parse
from documents.ingestion.structure import build_sections, structure_warnings
from documents.records import Block, BlockKind, MediaType, ParsedDocument, SectionRecord


def sections(text: str, name: str = "policy.txt") -> tuple[SectionRecord, ...]:
    return build_sections(parse(text.encode(), file_name=name), fallback_title="The policy")


def outline(text: str, name: str = "policy.txt") -> list[tuple[str | None, str | None]]:
    return [(s.number, s.title) for s in sections(text, name) if s.number or s.title]


# The minimal inputs of the defects that were seen elsewhere, A1 to A16.
def test_numbered_markdown_heading_has_number_and_title() -> None:
    assert outline("## 1 Scope\nAll staff.\n", "a.md") == [("1", "Scope")]


OPENS_NOTHING = [
    "30 days of notice are given to each tenant.",
    "2018 applies to every processor.",
    "45.50 euros are paid for each day.",
    "1,200 euros is the ceiling.",
    "3.5 percent is added for card fees.",
    "12",
    "Article 5 applies to visitors as well.",
    "§ 12 Abs. 3 gilt entsprechend.",
    "Section 4(b) does not apply.",
    "2.2, 2.3 and 2.4 apply in turn.",
    "10:30 is the time of the meeting.",
    "Part of the fee is returned.",
    "1 Hotel 180 EUR",
]


@pytest.mark.parametrize("line", OPENS_NOTHING)
def test_line_that_only_looks_numbered_opens_no_section(line: str) -> None:
    text = f"1. Scope\nThis covers all.\n2. Rules\nStaff follow the rules.\n{line}\nMore text.\n"
    assert outline(text) == [("1", "Scope"), ("2", "Rules")]


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
@pytest.mark.parametrize("title", ["Hours and availability", "個人資料保護", "Working from abroad"])
def test_title_that_begins_with_a_unit_is_a_title_where_its_number_fits(
    title: str, name: str
) -> None:
    mark = "## " if name == "a.md" else ""
    text = f"{mark}1 Scope\n\nAll of us.\n\n{mark}2 {title}\n\nSome rules.\n"
    assert outline(text, name) == [("1", "Scope"), ("2", title)]


def test_cross_reference_with_particle_opens_no_section() -> None:
    text = "5.2 检查\n总则如下。\n5.2.4的检查适用于全部叉车。\n5.3 记录\n保存三年。\n"
    assert outline(text) == [("5.2", "检查"), ("5.3", "记录")]


def test_line_after_an_open_sentence_opens_no_section() -> None:
    text = "4.1 Data is kept as written in section\n4.2 Data of this policy.\n4.3 Logs are kept.\n"
    assert outline(text) == [("4.1", None), ("4.3", None)]


def test_list_inside_a_section_is_no_section_and_the_count_resumes() -> None:
    text = (
        "1. Purpose\nWhy we do this.\n2. Alarm\nWhen it sounds:\n"
        "1. Stop work.\n2. Leave.\n3. Close doors.\nDo not run.\n3. Assembly\nMeet outside.\n"
    )
    assert outline(text) == [("1", "Purpose"), ("2", "Alarm"), ("3", "Assembly")]


def test_clauses_after_the_lead_in_of_an_agreement_are_sections() -> None:
    clause = (
        "The recipient shall keep all of it secret and shall not pass it on to anyone else at all, "
    )
    text = "The parties agree as follows:\n" + "".join(
        f"{n}. {clause} as said in the {n} schedule.\n" for n in range(1, 5)
    )
    assert [number for number, _ in outline(text)] == ["1", "2", "3", "4"]


def test_hard_wrapped_clause_stays_whole() -> None:
    text = "5.1 Access is given within\n30 days of a written\nrequest.\n5.2 It is free.\n"
    first = sections(text)[0]
    assert first.number == "5.1"
    assert text[first.start : first.end].strip().endswith("request.")


@pytest.mark.parametrize(
    "contents",
    ["1 Purpose .......... 2\n2 Limits .......... 3\n", "1 Purpose 2\n2 Limits 3\n"],
    ids=["leaders", "repeated"],
)
def test_table_of_contents_opens_no_section(contents: str) -> None:
    text = f"CONTENTS\n{contents}\n1 Purpose\nWe set limits.\n\n2 Limits\nTen a day.\n"
    found = sections(text)
    assert [(s.number, s.title) for s in found if s.number] == [("1", "Purpose"), ("2", "Limits")]
    assert "We set limits." in text[found[-2].start : found[-2].end]


def test_path_holds_headings_from_the_root() -> None:
    text = "4 Leave\nGeneral.\n4.2 Carry-over\nSome days.\n4.2.1 Five days are kept.\n"
    last = sections(text)[-1]
    assert last.path == ("4 Leave", "4.2 Carry-over", "4.2.1")
    assert last.title is None
    assert last.display_title == "Carry-over"
    assert last.body_start == last.start


def test_untitled_clause_without_parent_shows_the_fallback_title() -> None:
    assert sections("3.1 Staff shall lock the door.")[0].display_title == "The policy"


def test_same_number_in_annex_has_another_path() -> None:
    found = sections("1.1 Main rule for all.\nANNEX A\n1.1 Annex rule for some.\n")
    paths = [section.path for section in found if section.number == "1.1"]
    assert len(set(paths)) == 2


def test_preamble_has_neither_number_nor_title() -> None:
    first = sections("Adopted in May.\n\n# 1 Duty\nCare.\n", "a.md")[0]
    assert (first.number, first.title, first.path) == (None, None, ())
    assert first.display_title == "The policy"


def test_text_without_headings_is_one_section_with_a_notice() -> None:
    parsed = parse(b"Some words here.\n\nAnd some more of them.\n", file_name="a.txt")
    found = build_sections(parsed, fallback_title="T")
    assert len(found) == 1
    assert [notice.code for notice in structure_warnings(parsed, found)] == ["no_headings"]


def test_text_with_headings_has_no_notice() -> None:
    parsed = parse(b"# Scope\nAll staff.\n", file_name="a.md")
    assert structure_warnings(parsed, build_sections(parsed, fallback_title="T")) == ()


def test_markdown_levels_make_the_tree() -> None:
    found = sections("# A\n\nx\n\n## B\n\ny\n\n#### C\n\nz\n\n## D\n\nw\n", "a.md")
    assert [(s.title, s.parent, s.level) for s in found] == [
        ("A", None, 1),
        ("B", 0, 2),
        ("C", 1, 3),
        ("D", 0, 2),
    ]


def test_numbers_make_the_tree_where_markdown_levels_are_equal() -> None:
    found = sections("## 1 Leave\n\nx\n\n## 1.1 Sick leave\n\ny\n\n## 2 Travel\n\nz\n", "a.md")
    assert [(s.number, s.parent) for s in found] == [("1", None), ("1.1", 0), ("2", None)]


def test_clauses_under_markdown_headings_are_sections() -> None:
    text = (
        "# Data\n\n## 4 Retention\n\n4.1 Logs are kept for a year.\n\n4.2 Mail is kept for two.\n"
    )
    assert outline(text, "a.md")[1:] == [("4", "Retention"), ("4.1", None), ("4.2", None)]


def test_ordered_list_under_markdown_headings_is_body() -> None:
    text = "# Fire\n\n## Steps\n\n1. Stop work.\n2. Leave the room.\n\n## After\n\nCount heads.\n"
    assert outline(text, "a.md") == [(None, "Fire"), (None, "Steps"), (None, "After")]


def test_markdown_without_marked_headings_is_read_by_its_numbers() -> None:
    text = "1. Introduction\n\nWhy.\n\n2. Scope\n\nWho.\n"
    assert outline(text, "a.md") == [("1", "Introduction"), ("2", "Scope")]


def test_bold_lines_are_headings_where_nothing_is_marked() -> None:
    text = "**Sick leave**\n\nCall in before nine.\n\n**Holidays**\n\nAsk a month before.\n"
    assert (None, "Holidays") in outline(text, "a.md")


def test_unnumbered_headings_in_plain_text() -> None:
    text = (
        "Leave policy\n\nFor all of us.\n\nSICK LEAVE\nCall in before nine.\n\n"
        "Annual leave\n\nAsk your manager a month before.\n"
    )
    assert outline(text) == [(None, "SICK LEAVE"), (None, "Annual leave")]


def test_run_in_title_is_told_from_its_clause() -> None:
    text = "4.1 Data Retention. Records are kept for a year.\n4.2 Disposal: They are shredded.\n"
    found = sections(text)
    assert [section.title for section in found] == ["Data Retention", "Disposal"]
    assert text[found[0].body_start :].startswith("Records are kept")


def test_chinese_chapters_articles_and_supplement() -> None:
    text = (
        "請假辦法\n\n第一章　總　則\n第一條　為規範請假，訂定本辦法。\n"
        "第一條之一　本辦法適用於全體。\n"
        "第二章　請　假\n第二條（病假）病假須附證明。\n附則\n本辦法自公布日施行。\n"
    )
    assert outline(text) == [
        ("第一章", "總則"),
        ("第一條", None),
        ("第一條之一", None),
        ("第二章", "請假"),
        ("第二條", "病假"),
        ("附則", None),
    ]
    assert sections(text)[3].path == ("第一章 總則", "第一條之一")


def test_chinese_enumeration_is_a_section_only_outside_articles() -> None:
    guideline = "差旅要點\n\n一、目的\n節省經費。\n二、範圍\n全體員工。\n"
    article = "第一條　申請文件：\n一、申請書。\n二、收據。\n第二條　期限為十日。\n"
    assert [number for number, _ in outline(guideline)] == ["一", "二"]
    assert [number for number, _ in outline(article)] == ["第一條", "第二條"]


def test_title_on_the_line_after_the_label() -> None:
    text = "PART I\nGENERAL PROVISIONS\nARTICLE 1\nPersonal data shall be safe.\n"
    assert outline(text) == [("PART I", "GENERAL PROVISIONS"), ("ARTICLE 1", None)]


def test_label_of_a_long_word_is_none() -> None:
    assert parse_label("Sectional doors are shut.") is None
    assert parse_label("Parties agree.") is None


@pytest.mark.parametrize(
    ("line", "scheme", "value", "number"),
    [
        ("Article premier", Scheme.ARTICLE, (1,), "Article premier"),
        ("Art. 3. – Badges", Scheme.ARTICLE, (3,), "Art. 3"),
        ("Annexe B : Plan", Scheme.ANNEX, (2,), "Annexe B"),
        ("Appendix III: Contacts", Scheme.ANNEX, (3,), "Appendix III"),
        ("§ 7a Notices", Scheme.PARAGRAPH_SIGN, (7, 1001), "§ 7a"),
        ("第五十三條之一", Scheme.HAN_ARTICLE, (53, 1), "第五十三條之一"),
        ("第 53-1 條", Scheme.HAN_ARTICLE, (53, 1), "第53-1條"),
        ("1.1.1.1 Deputies", Scheme.DECIMAL, (1, 1, 1, 1), "1.1.1.1"),
    ],
)
def test_label_is_read(line: str, scheme: Scheme, value: tuple[int, ...], number: str) -> None:
    label = parse_label(line)
    assert label is not None
    assert (label.scheme, label.value, label.number) == (scheme, value, number)


@pytest.mark.parametrize(
    ("number", "value"),
    [("十", 10), ("二十一", 21), ("五十三", 53), ("一百零二", 102), ("廿一", 21), ("二〇", 20)],
)
def test_value_of_chinese_numeral(number: str, value: int) -> None:
    assert han_value(number) == value


@pytest.mark.parametrize(("number", "value"), [("IV", 4), ("XIX", 19), ("IIII", None), ("", None)])
def test_value_of_roman_numeral(number: str, value: int | None) -> None:
    assert roman_value(number) == value


LINES = st.sampled_from(
    ["1. Scope", "1.1 All staff must act.", "2. Rules", "ANNEX A", "12", "30 days of it", "",
     "Article 5", "第一條　總則", "(a) an item;", "Some text that says more.", "IV. Sanctions",
     "SICK LEAVE", "# Head", "- item", "| a | b |", "A. Letters", "一、目的", "as follows:"]
)  # fmt: skip


@given(st.lists(LINES, min_size=1, max_size=25), st.sampled_from(["a.txt", "a.md"]))
def test_sections_cover_the_text_without_overlap(lines: list[str], name: str) -> None:
    text = "\n".join([*lines, "end of it"])
    parsed = parse(text.encode(), file_name=name)
    found = build_sections(parsed, fallback_title="T")
    assert found[0].start == 0
    assert found[-1].end == len(parsed.text)
    for before, after in pairwise(found):
        assert before.end == after.start
    for section in found:
        assert section.start <= section.body_start <= section.end
        assert section.parent is None or section.parent < section.ordinal
        assert section.title is None or len(section.title) < 200


def test_a_number_with_a_zero_stands_above_its_clauses() -> None:
    text = "1.0 PURPOSE\n\n1.1 We set limits.\n\n2.0 SCOPE\n\n2.1 All staff are bound.\n"
    found = [(s.number, s.path) for s in sections(text)]
    assert [number for number, _ in found] == ["1.0", "1.1", "2.0", "2.1"]
    assert found[3][1] == ("2.0 SCOPE", "2.1")


@pytest.mark.parametrize("leader", ["-----", ".....", "_____", "- - - - -", "–––––", "·····"])
def test_any_leaders_make_a_table_of_contents(leader: str) -> None:
    listed = "".join(f"{n}.0 {name} {leader} {n + 3}\n" for n, name in enumerate(["AIM", "USE"], 1))
    text = f"CONTENTS\n\n{listed}\n1.0 AIM\n\nWe protect data.\n\n2.0 USE\n\nUse it well.\n"
    assert [pair for pair in outline(text) if pair[0]] == [("1.0", "AIM"), ("2.0", "USE")]


def test_decimals_begin_anew_in_every_keyword_section() -> None:
    part = (
        "SECTION {0}: {1}\n\n1. HOURS OF {1}\n\n1.1 We {1} for eight hours.\n\n"
        "1.2 Breaks {1} too.\n\n2. MAY DAY\n\n2.1 May Day is for {1}.\n\n"
        "3. LEAVE TO {1}\n\n3.1 Leave is agreed by {1}.\n\n"
    )
    numbers = [s.number for s in sections(part.format(1, "WORK") + part.format(2, "REST"))]
    inner = ["1", "1.1", "1.2", "2", "2.1", "3", "3.1"]
    assert numbers == ["SECTION 1", *inner, "SECTION 2", *inner]


def test_a_lost_number_loses_none_after_it() -> None:
    text = (
        "1. Hours\n1.1 Staff work eight hours.\n1.2 Breaks are paid.\n\n"
        "3.1 Leave is agreed in writing.\n3.2 It may be refused.\n4. Pay\n4.1 Pay is monthly.\n"
    )
    numbers = [s.number for s in sections(text)]
    assert numbers == ["1", "1.1", "1.2", "3.1", "3.2", "4", "4.1"]


def test_inserted_numbers_stand_beside_what_they_follow_and_have_numbers_of_their_own() -> None:
    text = (
        "2. Picking\n2.1 Pick by day.\n2.2 Keep a basket.\n2A. Night picking\n2A.1 Take a lamp.\n"
        "2A.2 Give it back.\n2B. Rain\n2B.1 Stay in.\n3. Fees\n3.1 Fees are due.\n"
        "3.1A Late fees are due too.\n3.2 Coins may be\n3D printed ones of\n5G operators.\n"
    )
    assert [s.path for s in sections(text) if s.number] == [
        ("2 Picking",), ("2 Picking", "2.1"), ("2 Picking", "2.2"),
        ("2A Night picking",), ("2A Night picking", "2A.1"), ("2A Night picking", "2A.2"),
        ("2B Rain",), ("2B Rain", "2B.1"),
        ("3 Fees",), ("3 Fees", "3.1"), ("3 Fees", "3.1A"), ("3 Fees", "3.2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name", "numbers"),
    [
        ("# 2 Kilns\n\nx\n\n# 2A Glazes\n\ny\n\n# 3D printing\n\nz\n", "a.md", ["2", "2A"]),
        ("12A Mill Lane\nLeeds\n\n1. Scope\n1.1 All.\n\n14A Mill Lane\n", "a.txt", ["1", "1.1"]),
        ("1. Scope\nAll.\n1A Kilns Today\nKilns are hot.\n2. End\nIt ends.\n", "a.txt",
         ["1", "1A", "2"]),
    ],
)  # fmt: skip
def test_letter_without_a_full_stop_is_a_number_only_where_it_counts_on(
    text: str, name: str, numbers: list[str]
) -> None:
    assert [s.number for s in sections(text, name) if s.number] == numbers


def test_extract_may_leave_out_many_numbers() -> None:
    text = "3. Fees\n3.1 Fees are due.\n10. Closing\n10.1 It ends.\n10.2 It ends twice.\n"
    assert [s.number for s in sections(text)] == ["3", "3.1", "10", "10.1", "10.2"]


def test_an_inserted_number_stands_beside_the_one_before() -> None:
    text = "12. Notices\nBy post.\n\n12A. Electronic notices\nBy mail.\n\n12.1 Post is slow.\n"
    paths = {s.number: s.path for s in sections(text)}
    assert paths["12A"] == ("12A Electronic notices",)


BODY = "The board keeps this matter under review and reports to the members every year. " * 20


def bold_document(*lines: tuple[str, str]) -> ParsedDocument:
    """A PDF's parse: each line its own block, with its kind (`h`, `b` for bold, `p`)."""
    blocks, text = [], ""
    for kind, words in lines:
        start = len(text)
        text += words
        block_kind = BlockKind.HEADING if kind == "h" else BlockKind.PARAGRAPH
        flags = frozenset({"bold"}) if kind == "b" else frozenset()
        level = 1 if kind == "h" else None
        blocks.append(Block(block_kind, start, len(text), level=level, page=1, flags=flags))
        text += "\n\n"
    return ParsedDocument(MediaType.PDF, text, tuple(blocks))


def test_bold_lines_divide_what_the_marks_leave_in_one_piece() -> None:
    parsed = bold_document(
        ("h", "Migration"), ("p", BODY), ("b", "Overview of policies"), ("p", BODY),
        ("b", "Figure 1. Staff by year"), ("p", BODY), ("b", "Skilled workers"),
        ("b", "Permits"), ("p", BODY), ("b", "Note well."), ("p", BODY),
        ("b", "One"), ("b", "Two"), ("b", "Three"), ("b", "Four"), ("p", BODY), ("h", "End"),
        ("p", "Words end here."),
    )  # fmt: skip
    found = [s.title for s in build_sections(parsed, fallback_title="X")]
    titles = ["Migration", "Overview of policies", "Skilled workers", "Permits", "End"]
    assert found == titles


def test_bold_stresses_words_where_the_marks_divide_the_text() -> None:
    pairs = [("h", f"Part about {n}") for n in range(6)]
    lines = [line for pair in pairs for line in (pair, ("b", f"Stress {pair[1]}"), ("p", BODY))]
    found = [s.title for s in build_sections(bold_document(*lines), fallback_title="X")]
    assert found == [title for _, title in pairs]


def test_a_title_before_its_number_belongs_to_it() -> None:
    names = ["Formation", "Name", "Purpose", "Place of Business", "Term"]
    clauses = " ".join(
        f"{name} {n}. The members have agreed on this point in good faith and at length."
        for n, name in enumerate(names, 1)
    )
    text = f"JOINT VENTURE\n\nThe members agree as follows: {clauses}\n"
    found = sections(text)
    assert [(s.number, s.title) for s in found[1:]] == [(str(n), t) for n, t in enumerate(names, 1)]
    assert text[found[1].start :].startswith("Formation 1.")


def test_a_word_that_counts_is_no_title() -> None:
    clauses = " ".join(f"Principle {n}. A person has a right to this." for n in range(1, 9))
    assert len(sections(f"AIMS\n\nThese hold: {clauses}\n")) <= 2


def test_a_heading_in_capitals_on_the_line_of_its_count_opens_a_section() -> None:
    clause = "The parties have settled this point by themselves and after long talks. "
    text = f"This is made by both. {clause}RECITALS 1. {clause}2. {clause}3. {clause}\n"
    found = sections(text)
    assert [s.title for s in found if s.title] == ["RECITALS"]
    assert not any(text[s.start : s.end].rstrip().endswith("RECITALS") for s in found[:1])


def test_a_title_that_holds_numbers_is_cut_from_the_line() -> None:
    clause = "The maker appoints the agent for the whole of the area and all goods in it. "
    text = f"The parties agree: {clause}Agreement 1. Appointment 1.1 {clause}1.2 {clause}\n"
    assert [s.number for s in sections(text)][1:] == ["1", "1.1", "1.2"]


def test_numbers_in_bold_hold_the_lettered_sections_and_their_items() -> None:
    lines = [("p", "These rules bind all members of the staff.")]
    for number, name in enumerate(["ADMISSION", "RECORDS", "CONSENT", "RESEARCH"], 1):
        lines += [("b", f"{number}. {name}"), ("p", "A. Access"), ("p", BODY.strip())]
        lines += [("p", "B. Rules"), ("p", BODY.strip())]
        lines += [("p", f"{item}. Operative {name.lower()}") for item in range(1, 6)]
    found = build_sections(bold_document(*lines), fallback_title="X")
    expected = [path for n in "1234" for path in ((n,), (n, "A"), (n, "B"))]
    assert [tuple(part.split()[0].rstrip(".") for part in s.path) for s in found[1:]] == expected


def test_a_noun_at_a_sentence_end_does_not_hide_the_article_after_it() -> None:
    clause = "The parties keep all terms confidential and comply with listed company rules."
    text = f"ARTICLE 24 - SECRECY 24.1 {clause} {clause} ARTICLE 25 - ENTIRE 25.1 {clause}\n"
    assert [s.number for s in sections(text)] == ["ARTICLE 24", "24.1", "ARTICLE 25", "25.1"]
