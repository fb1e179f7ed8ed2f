from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.clauses import find_clauses
from documents.ingestion.parsers import parse
from documents.ingestion.references import find_references
from documents.ingestion.structure import build_sections

LEASE = """1 Scope
{}

2 Rent
Rent is due monthly.

2.1 Late rent
A fee is due where:
(a) rent is late; or
(b) rent is short.

2.2 Deposit
The deposit is kept safe.

ANNEX A
House rules

1 Noise
Quiet after ten.

2 Pets
{}

Schedule 2
Keys

1 Holders
Two keys are given.
"""

KITES = """第一章　總則
第一條　本法所稱風箏，指以線繫之者。
前項之線，以棉為之：
一、白線。
二、紅線。
第二條　{}
第二章　放飛
第三條　放飛者，應登記。
第四條　{}
前項登記，免費。
"""


def read(text: str) -> list[tuple[str, str | None]]:
    """Each reference as its words and what it leads to."""
    parsed = parse(text.encode(), file_name="lease.txt")
    sections = build_sections(parsed, fallback_title="T")
    clauses = find_clauses(parsed, sections)
    found = find_references(parsed, sections, clauses)
    assert [r.start for r in found] == sorted({r.start for r in found})
    return [(parsed.text[r.start : r.end], r.label or sections[r.target].number) for r in found]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It ends as set out in Section 2.1(b).", [("Section 2.1(b)", "2.1(b)")]),
        ("It is free (see 2.2).", [("2.2", "2.2")]),
        ("It ends under clauses 1 to 2.", [("clauses 1", "1"), ("2", "2")]),
        ("Sections 2.1, 2.2 and 2 hold.", [("Sections 2.1", "2.1"), ("2.2", "2.2"), ("2", "2")]),
        ("It is in Annex A or Schedule 2.",
         [("Annex A", "ANNEX A"), ("Schedule 2", "Schedule 2")]),
        ("Point (a) of section 2.1 holds.",
         [("Point (a)", "2.1(a)"), ("section 2.1", "2.1")]),
        ("Clause 1 of Schedule 2 holds.", [("Clause 1", "1"), ("Schedule 2", "Schedule 2")]),
        ("This Section holds.", [("This Section", "1")]),
        ("It is in Section 2.1, point (a), too.",
         [("Section 2.1", "2.1"), ("point (a)", "2.1(a)")]),
        ("It is in Section 2 para. 1 already.", [("Section 2", "2")]),
    ],
)  # fmt: skip
def test_reference_leads_to_what_it_names(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert read(LEASE.format(sentence, "Cats are fine.")) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Section 2 of the Housing Act applies.",
        "Article 2 of Regulation (EU) 2016/679 applies.",
        "Section 2 of the 1998 Act applies.",
        "Section 2.1(b) of the Securities Exchange Act of 1934 applies.",
        "Clause 2 thereof is void.",
        "Article 2 GDPR applies.",
        "ISO 2.1 is met.",
        "The Housing Act 1988, section 2 applies.",
        "Section 9 is missing.",
        "It takes 2.1 hours.",
        "Paragraph (z) is missing.",
        "Point (a) of the first subparagraph is old.",
        "Article 9, point (a), is missing.",
        "Section 2A is missing.",
        "Chapter 2 of Title V is missing.",
    ],
)
def test_mention_of_another_document_or_of_nothing_leads_nowhere(sentence: str) -> None:
    assert read(LEASE.format(sentence, "Cats are fine.")) == []


def test_number_in_a_schedule_is_the_schedules_own_first() -> None:
    text = LEASE.format("All rooms.", "Clause 1 and clause 2.2 hold.")
    parsed = parse(text.encode(), file_name="lease.txt")
    sections = build_sections(parsed, fallback_title="T")
    found = find_references(parsed, sections, find_clauses(parsed, sections))
    assert [sections[r.target].path for r in found] == [
        ("ANNEX A House rules", "1 Noise"),
        ("2 Rent", "2.2 Deposit"),
    ]


def test_sibling_clause_is_named_by_its_mark_alone() -> None:
    text = "4 Fees\nDue if:\n(a) agreed;\n(b) billed under paragraph (a) above.\n"
    assert read(text) == [("paragraph (a)", "4(a)")]


def test_inserted_number_is_not_taken_for_one_below_it() -> None:
    text = "2. Old\nSee rule 2A.1.\n2.1 Older.\nSee Section 2A.\n2A. New\n2A.1 Newer.\nIt is so.\n"
    assert read(text) == [("rule 2A.1", "2A.1"), ("Section 2A", "2A")]


def test_heading_is_no_reference_to_itself() -> None:
    assert read("Section 1 Rent\nDue monthly.\nSection 2 Fees\nDue never.\n") == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("依前條第二項第一款規定。", [("前條第二項第一款", "第一條第二項第一款")]),
        ("依第一條第一項、第二項規定。",
         [("第一條第一項", "第一條第一項"), ("第二項", "第一條第二項")]),
        ("依本法第三條及次條規定。", [("第三條", "第三條"), ("次條", "第三條")]),
        ("依本章規定。", [("本章", "第一章")]),
        ("依第一條規定；同條第二項亦同。",
         [("第一條", "第一條"), ("同條第二項", "第一條第二項")]),
        ("依民法第一條、第三條規定。", []),
        ("依道路交通管理處罰條例第三條規定。", []),
        ("依第九條規定。", []),
        ("依刑法第一條規定，同法第三條亦同。", []),
    ],
)  # fmt: skip
def test_chinese_reference(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert read(KITES.format(sentence, "免登記。"))[1:-1] == expected


def test_previous_paragraph_is_counted_from_where_it_is_named() -> None:
    assert read(KITES.format("無。", "應登記。")) == [
        ("前項", "第一條第一項"),
        ("前項", "第四條第一項"),
    ]


@pytest.mark.parametrize(
    ("third", "expected"),
    [
        ("前二項登記，免費。", [("前二", "第一條第一項"), ("項", "第一條第二項")]),
        ("前三項登記，免費。", []),  # there are but two before it
        ("前二項第一款之線，免費。", [("前二項第一款", "第一條第二項第一款")]),
    ],
)
def test_several_paragraphs_before_lead_to_the_first_and_the_last(
    third: str, expected: list[tuple[str, str]]
) -> None:
    text = f"第一條　風箏應登記。\n線分二種：\n一、白線。\n二、紅線。\n{third}\n第二條　施行。\n"
    assert read(text) == expected


WORDS = st.sampled_from(
    ["see 1.1", "Section 2(a)", "Annex A", "(a) x;", "1 Scope", "1.1 All of it", "ANNEX A", "前條",
     "第二條　甲", "第一項", "this Section", "and (b)", "of the Act", "paragraphs (a) to (c)",
     "本章"]
)  # fmt: skip


@given(st.lists(WORDS, min_size=1, max_size=20), st.sampled_from([" ", "\n"]))
def test_references_stay_in_the_text_and_lead_to_sections(words: list[str], gap: str) -> None:
    text = gap.join(words)
    parsed = parse(text.encode(), file_name="a.txt")
    sections = build_sections(parsed, fallback_title="T")
    clauses = find_clauses(parsed, sections)
    labels = {(clause.section, clause.label) for clause in clauses}
    for reference in find_references(parsed, sections, clauses):
        assert 0 <= reference.start < reference.end <= len(parsed.text)
        assert 0 <= reference.target < len(sections)
        assert reference.label is None or (reference.target, reference.label) in labels


@pytest.mark.timeout(120)  # a quadratic step would take many minutes
@pytest.mark.parametrize(
    "piece", ["see Section 1 ", "paragraph (a) ", "前條第一項、", "Sections 1, 2, 3, ", "第一條"]
)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    read("1 Rules\n" + piece * (40_000 // len(piece)))
