from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.clauses import find_clauses
from documents.ingestion.parsers import parse
from documents.ingestion.structure import build_sections
from documents.records import (
    Block,
    BlockKind,
    ClauseRecord,
    MediaType,
    ParsedDocument,
    SectionRecord,
)


def read(text: str) -> tuple[ParsedDocument, tuple[SectionRecord, ...], tuple[ClauseRecord, ...]]:
    parsed = parse(text.encode(), file_name="rules.txt")
    sections = build_sections(parsed, fallback_title="T")
    return parsed, sections, find_clauses(parsed, sections)


def labelled(text: str) -> dict[str, str]:
    """Label to text; a label that comes twice would be lost, so it fails."""
    parsed, _, clauses = read(text)
    assert len({clause.label for clause in clauses}) == len(clauses)
    return {clause.label: parsed.text[clause.start : clause.end] for clause in clauses}


def test_letter_i_after_h_and_roman_one_inside_it() -> None:
    found = labelled(
        "4 Loans\nMembers may borrow:\n(h) a map;\n(i) a globe, where\n(i) it is insured, and\n"
        "(ii) a steward agrees;\n(j) a lamp.\n"
    )
    assert list(found) == ["4(h)", "4(i)", "4(i)(i)", "4(i)(ii)", "4(j)"]
    assert found["4(i)"].startswith("(i) a globe")
    assert found["4(i)"].endswith("agrees;")
    assert found["4(i)(i)"] == "(i) it is insured, and"


def test_roman_one_after_h_where_two_follows() -> None:
    items = "".join(f"({letter}) item {letter};\n" for letter in "abcdefgh")
    found = labelled(f"4 Loans\nMembers may borrow:\n{items}(i) new;\n(ii) old;\n(i) last.\n")
    assert list(found)[-4:] == ["4(h)", "4(h)(i)", "4(h)(ii)", "4(i)"]


@pytest.mark.parametrize(
    ("marks", "labels"),
    [
        (["(a)", "(b)"], ["2(a)", "2(b)"]),
        (["a)", "b)", "c)"], ["2(a)", "2(b)", "2(c)"]),
        (["a.", "b."], ["2(a)", "2(b)"]),
        (["(1)", "(2)"], ["2(1)", "2(2)"]),
        (["1.", "2."], ["2(1)", "2(2)"]),
        (["(A)", "(B)"], ["2(A)", "2(B)"]),
        (["(i)", "(ii)", "(iii)", "(iv)", "(v)", "(vi)"],
         ["2(i)", "2(ii)", "2(iii)", "2(iv)", "2(v)", "2(vi)"]),
        (["(a)", "(i)", "(A)", "(1)", "(2)", "(B)", "(ii)", "(b)"],
         ["2(a)", "2(a)(i)", "2(a)(i)(A)", "2(a)(i)(A)(1)", "2(a)(i)(A)(2)", "2(a)(i)(B)",
          "2(a)(ii)", "2(b)"]),
        (["(y)", "(z)", "(aa)", "(bb)"], ["2(y)", "2(z)", "2(z)(aa)", "2(z)(bb)"]),
        (["(a)", "(i)", "(ii)", "(b)", "(i)", "(ii)"],
         ["2(a)", "2(a)(i)", "2(a)(ii)", "2(b)", "2(b)(i)", "2(b)(ii)"]),
    ],
)  # fmt: skip
def test_marks_are_put_into_levels(marks: list[str], labels: list[str]) -> None:
    lines = "".join(f"{mark} the words of it;\n" for mark in marks)
    assert list(labelled(f"2 Rules\nStaff keep to these:\n{lines}")) == labels


def test_marks_inside_a_line_are_clauses_where_they_count() -> None:
    found = labelled(
        "3 Fees\nA fee is due if (a) it was agreed, (b) it was billed, or (c) a court says so.\n"
        "Nobody pays twice.\n"
    )
    assert found == {
        "3(a)": "(a) it was agreed,",
        "3(b)": "(b) it was billed, or",
        "3(c)": "(c) a court says so.",
    }


@pytest.mark.parametrize(
    "sentence",
    [
        "It is due within thirty (30) days and one (1) hour, or two (2) weeks.",
        "Paragraph (a) and paragraph (b) stay in force.",
        "See clause (a) or (b) of the lease.",
        "The fee (a) is odd.",
        "Costs (i) alone.",
    ],
)
def test_mention_of_a_mark_is_no_clause(sentence: str) -> None:
    assert labelled(f"3 Fees\n{sentence}\n") == {}


def test_first_sub_clause_on_the_line_of_its_number() -> None:
    found = labelled("4 Pay\n4.1 (a) Wages are monthly.\n(b) Tips are daily.\n4.2 No more.\n")
    assert found == {"4.1(a)": "(a) Wages are monthly.", "4.1(b)": "(b) Tips are daily."}


def test_two_marks_on_one_line_open_two_levels() -> None:
    found = labelled("7 Keys\nHolders:\n(1) (a) sign for it;\n(b) keep it;\n(2) return it.\n")
    assert list(found) == ["7(1)", "7(1)(a)", "7(1)(b)", "7(2)"]


def test_last_item_ends_with_its_paragraph() -> None:
    found = labelled("5 Alarm\nDo this:\n(a) stop;\n(b) leave.\n\nNobody runs.\n\n6 End\nDone.\n")
    assert found["5(b)"] == "(b) leave."


def test_paragraphs_of_a_chinese_article_are_counted() -> None:
    found = labelled(
        "第五十三條　放風箏者，應掛牌。\n前項之牌，應載明下列事項：\n一、姓名。\n二、線長：\n"
        "（一）晴天。\n（二）雨天。\n牌由風箏局發給。\n第五十四條　依下列規定：\n一、甲。\n"
    )
    assert list(found) == [
        "第五十三條第一項",
        "第五十三條第二項",
        "第五十三條第二項第一款",
        "第五十三條第二項第二款",
        "第五十三條第二項第二款第一目",
        "第五十三條第二項第二款第二目",
        "第五十三條第三項",
        "第五十四條第一款",
    ]
    assert found["第五十三條第二項第二款第二目"] == "（二）雨天。"
    assert found["第五十三條第二項"].endswith("（二）雨天。")


def test_arabic_article_gives_arabic_labels() -> None:
    found = labelled("第 7-1 條\n放飛者應登記。\n前項登記，依下列規定：\n一、親自。\n")
    assert list(found) == ["第7-1條第1項", "第7-1條第2項", "第7-1條第2項第1款"]


def test_hard_wrapped_paragraph_counts_once() -> None:
    found = labelled("第三條　放飛者應於放飛前\n登記。\n前項登記免費。\n")
    assert list(found) == ["第三條第一項", "第三條第二項"]


def test_chinese_outline_keeps_its_marks() -> None:
    found = labelled("一、目的\n（一）節省：\n1. 紙。\n2. 線。\n（二）安全。\n二、範圍\n全體。\n")
    assert list(found) == ["一（一）", "一（一）1", "一（一）2", "一（二）"]


def test_label_that_the_format_computed_holds() -> None:
    lines = ["1.2 Exclusions", "(b) The lamp:", "  (i) is lit;", "  (ii) is out.", "(c) The map."]
    numbers = [None, "1.2(b)", "1.2(b)(i)", "1.2(b)(ii)", "1.2(c)"]
    text, blocks = "", []
    for line, number in zip(lines, numbers, strict=True):
        start = len(text) + len(line) - len(line.lstrip())
        kind = BlockKind.LIST_ITEM if number else BlockKind.HEADING
        level = None if number else 1
        blocks.append(Block(kind, start, len(text) + len(line), level=level, number=number))
        text += line + "\n"
    parsed = ParsedDocument(MediaType.DOCX, text.strip("\n"), tuple(blocks))
    sections = build_sections(parsed, fallback_title="T")
    clauses = find_clauses(parsed, sections)
    assert [clause.label for clause in clauses] == numbers[1:]
    assert [clause.marker for clause in clauses] == ["(b)", "(i)", "(ii)", "(c)"]
    assert parsed.text[clauses[0].start : clauses[0].end].endswith("(ii) is out.")
    bare = replace(blocks[1], number="b")
    parsed = replace(parsed, blocks=(blocks[0], bare))
    assert find_clauses(parsed, sections)[0].label == "1.2(b)"


MARKS = st.sampled_from(
    ["(a)", "(b)", "(i)", "(ii)", "(v)", "(1)", "2.", "a)", "(A)", "一、", "（一）", "二、", "(aa)",
     "第三條　", "1. ", "1.1 ", "if (a) x, ", "Words of it.", "", "as follows:"]
)  # fmt: skip


@given(st.lists(MARKS, min_size=1, max_size=20))
def test_clauses_nest_and_stay_inside_their_section(marks: list[str]) -> None:
    parsed, sections, clauses = read("\n".join(f"{mark} some words" for mark in marks))
    for clause in clauses:
        section = sections[clause.section]
        assert section.start <= clause.start < clause.end <= section.end
        assert clause.label.startswith(section.number or "")
        if clause.marker is not None:
            assert parsed.text.startswith(clause.marker, clause.start)
    for before, after in pairwise(clauses):
        assert before.start <= after.start
        assert after.end <= before.end or before.end <= after.start


@pytest.mark.timeout(120)  # a quadratic step would take many minutes
@pytest.mark.parametrize(
    "line", ["(a) x\n", "(i) x\n(ii) y\n", "一、甲\n", "if (a) x, (b) y ", "(1) (a) x\n", "a. "]
)
def test_many_marks_take_seconds(line: str) -> None:
    read("1 Rules\n" + line * 6_000)
