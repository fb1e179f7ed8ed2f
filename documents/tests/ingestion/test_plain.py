"""Plain text keeps every character; only lines that width parted are joined."""

from __future__ import annotations

import textwrap
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.parsers import parse
from documents.ingestion.parsers.encoding import Decoded
from documents.ingestion.parsers.plain import parse_plain
from documents.records import BlockKind, ParsedDocument


def plain(text: str) -> ParsedDocument:
    return parse_plain(Decoded(text, "utf-8"))


WRAPPED = """ACME TRAVEL POLICY

This policy applies to all employees of the company who travel on
business, including part-time employees and contractors, as described in
section 4.2 below, and to every booking that they make for themselves or
for someone else. The owner reviews it each year.

   (a) Book early, at least fourteen days before the date of departure,
       and use the tool of the company, which knows the limits and asks
       the manager.
   (b) Ask your manager before you book anything that costs more than it.

Acme Ltd
12 High Street
London
"""


def test_wrapped_lines_are_joined_and_others_kept() -> None:
    text = plain(WRAPPED).text
    assert "who travel on business, including" in text
    assert "described in section 4.2 below" in text
    assert "departure, and use the tool" in text
    assert "manager.\n   (b) Ask" in text
    assert text.endswith("Acme Ltd\n12 High Street\nLondon")


def test_chinese_lines_are_joined_without_a_blank() -> None:
    text = plain(
        "第一條　本辦法依據勞動基準法第三十八條規定訂定之，凡本公司員工之請假，除法令\n"
        "另有規定外，悉依本辦法辦理，並應於事前提出申請，經主管核准後始得離開工作崗位\n"
        "，違者以曠職論。\n第二條　員工請假應填具請假單。\n"
    ).text
    assert "除法令另有規定外" in text
    assert "工作崗位，違者" in text
    assert "\n第二條" in text


def test_hyphen_of_a_break_goes_where_the_text_knows_the_word() -> None:
    line = "The people who are in charge of this matter will need an author-\n"
    rest = "isation before they act on it, and they will ask for it in good time\nbefore that.\n"
    known = "\nAn authorisation is a paper.\n"
    assert "an author-isation before" in plain(line + rest).text
    assert "an authorisation before" in plain(line + rest + known).text


@pytest.mark.parametrize(
    "text",
    [
        "Line one is short.\nLine two is short.\nThird.",
        "Name       Days   Note\n---------  -----  ----\nAnnual       20   x\nSick         10   y",
        "+-----+-----+\n| a   | b   |\n+-----+-----+\n| 1   | 2   |",
        "From: a@b.example\nTo: c@d.example\nSubject: Leave",
        "Signed for the company\n\n____________________\nJane Doe\nDirector",
        "a\tb\tc\n1\t2\t3",
        "id,name,days\n1,Ann,20\n2,Bob,10",
    ],
)
def test_lines_that_stand_alone_stay(text: str) -> None:
    assert plain(text).text == text


def test_title_over_a_ruler_is_a_heading() -> None:
    parsed = plain("Leave policy\n============\nAll staff.\n\nCarry-over\n----------\nFive days.\n")
    assert parsed.text == "Leave policy\n\nAll staff.\n\nCarry-over\n\nFive days."
    headings = [b for b in parsed.blocks if b.kind is BlockKind.HEADING]
    assert [b.level for b in headings] == [1, 2]
    assert parsed.title == "Leave policy"


@pytest.mark.parametrize(
    "text", ["a  b\n----", "----\n====", "Long sentence that goes on and on.\n--", "x\n---- ----"]
)
def test_other_rulers_stay(text: str) -> None:
    assert plain(text).text == text


def test_long_lines_are_not_taken_for_wrapped() -> None:
    line = "word " * 60
    assert plain(f"{line}\n{line}\n{line}").text.count("\n") == 2


@settings(max_examples=300, deadline=None)
@given(st.text("ab .,;:()1中文、，\n\t", max_size=400))
def test_every_visible_character_is_kept_in_order(text: str) -> None:
    parsed = plain(text)
    assert [c for c in parsed.text if not c.isspace()] == [c for c in text if not c.isspace()]
    covered = "\n".join(parsed.text[b.start : b.end] for b in parsed.blocks)
    assert Counter(covered.split()) == Counter(parsed.text.split())
    for before, after in zip(parsed.blocks, parsed.blocks[1:], strict=False):
        assert before.end <= after.start


WORDS = st.lists(
    st.sampled_from(["the", "staff", "leave", "of", "policy", "regulations", "a", "4.2", "and"]),
    min_size=1,
    max_size=120,
)


@settings(max_examples=100, deadline=None)
@given(WORDS, st.integers(50, 100))
def test_wrapping_at_any_width_loses_no_word(words: list[str], width: int) -> None:
    wrapped = textwrap.fill(" ".join(words), width)
    assert plain(wrapped).text.split() == words


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_text_or_a_parse_error(data: bytes) -> None:
    try:
        parsed = parse(data, file_name="a.txt")
    except ParseError:
        return
    assert parsed.text.strip()
