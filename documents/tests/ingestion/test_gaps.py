from __future__ import annotations

import pytest

from documents.ingestion.parsers import parse
from documents.ingestion.structure import build_sections, structure_warnings


def gaps(text: str) -> list[str]:
    parsed = parse(text.encode(), file_name="rules.txt")
    sections = build_sections(parsed, fallback_title="T")
    return [
        notice.message
        for notice in structure_warnings(parsed, sections)
        if notice.code == "numbering_gap"
    ]


def clauses(numbers: list[str]) -> str:
    return "".join(f"{number} Heading {number[-1]}\nThe words of it.\n" for number in numbers)


def test_missing_number_is_named_with_the_one_before() -> None:
    messages = gaps(clauses(["1", "2", "2.1", "2.2", "2.4", "2.5", "3"]))
    assert len(messages) == 1
    assert "number 2.3, after 2.2" in messages[0]


def test_missing_article_of_a_statute_is_named_across_chapters() -> None:
    articles = "".join(f"第{n}條　放飛者應登記。\n" for n in "一二三")
    later = "".join(f"第{n}條　放飛者應登記。\n" for n in ("五", "六", "七", "八"))
    messages = gaps(f"第一章　總則\n{articles}第二章　罰則\n{later}")
    assert len(messages) == 1
    assert "number 4, after 第三條" in messages[0]


@pytest.mark.parametrize(
    "numbers",
    [
        ["1", "2", "3", "4"],
        ["1", "2", "2.1", "2.2", "3"],
        ["1.1", "1.2", "1.9", "1.20"],
        ["2.1", "2.3"],
    ],
)
def test_complete_or_sparse_numbering_has_no_notice(numbers: list[str]) -> None:
    assert gaps(clauses(numbers)) == []


def test_each_annex_counts_for_itself() -> None:
    body = clauses(["1", "2", "3", "4"])
    assert gaps(f"{body}\nANNEX A\n{clauses(['1', '2'])}\nANNEX B\n{clauses(['1', '2'])}") == []


def test_article_with_a_suffix_fills_no_gap_and_makes_none() -> None:
    numbers = ["一", "二", "二之一", "三", "四"]
    text = "".join(
        f"第{n.split('之')[0]}條{'之一' if '之' in n else ''}　放飛者應登記。\n" for n in numbers
    )
    assert gaps(text) == []
