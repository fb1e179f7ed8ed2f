"""Markdown as the page it renders to: notes, terms, numbers, front matter, raw HTML."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.errors import ParseError
from documents.ingestion.parsers import parse
from documents.records import BlockKind, ParsedDocument


def markdown(text: str) -> ParsedDocument:
    return parse(text.encode(), file_name="a.md")


def lines(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[block.start : block.end] for block in parsed.blocks]


def test_note_follows_the_paragraph_that_cites_it() -> None:
    parsed = markdown(
        "Leave is 20[^1] days[^long].\n\nNext.\n\n[^1]: Pro rata.\n[^long]: One.\n\n    Two.\n"
    )
    assert lines(parsed) == ["Leave is 20 days.", "1 Pro rata.", "2 One.", "Two.", "Next."]
    assert [b.kind for b in parsed.blocks[1:4]] == [BlockKind.FOOTNOTE] * 3


def test_note_that_nothing_cites_and_mark_without_note_stay() -> None:
    assert markdown("x[^9] y\n\n[^u]: Kept.").text == "x[^9] y\n\nKept."


def test_terms_stand_with_their_definitions() -> None:
    assert lines(markdown("Term\n: One.\n\nOther\n: Two\n")) == ["Term: One.", "Other: Two"]


def test_struck_text_goes_with_a_warning() -> None:
    parsed = markdown("Fee ~~10~~ 12.")
    assert parsed.text == "Fee 12."
    assert [notice.code for notice in parsed.warnings] == ["struck_text"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1. a\n1. b\n5. c\n", [("1. a", "1"), ("1. b", "1"), ("5. c", "5")]),
        ("3) a\n   1. b\n", [("3) a", "3"), ("1. b", "3.1")]),
        ("1. ## Scope\n\n   Text.\n", [("1. Scope", "1"), ("Text.", None)]),
        ("- [x] done\n", [("- [x] done", None)]),
        ("- (a) one\n", [("(a) one", None)]),
    ],
)
def test_numbers_of_items_are_those_in_the_source(
    source: str, expected: list[tuple[str, str | None]]
) -> None:
    parsed = markdown(source)
    found = [(parsed.text[b.start : b.end], b.number) for b in parsed.blocks]
    assert found == expected


def test_headings_lose_anchors_and_closing_marks() -> None:
    parsed = markdown("# Head {#id .c}\n\n## Two ## \n\nThree {: #x }\n-----\n\nA {#b} stays.")
    assert lines(parsed) == ["Head", "Two", "Three", "A {#b} stays."]
    assert [b.level for b in parsed.blocks] == [1, 2, 2, None]


def test_table_with_missing_and_broken_cells() -> None:
    parsed = markdown("| A | B | C |\n|--|--|--|\n| 1 |\n| 1 | 2 | 3 | 4 |\n| a<br>b | `x\\|y` |\n")
    assert lines(parsed) == ["A: 1", "A: 1; B: 2; C: 3", "A: a b; B: x|y"]


def test_lines_that_only_width_parted_are_joined() -> None:
    text = (
        "This is a paragraph that its author broke at some seventy-two columns\n"
        "or so, as one does in an editor, so that it goes over more than one\n"
        "line.\n\n**Owner:** HR\n**Date:** 2024\n"
    )
    parsed = markdown(text)
    assert "columns or so" in parsed.text
    assert "one line." in parsed.text
    assert "Owner: HR\nDate: 2024" in parsed.text


def test_placeholders_stay_and_elements_go() -> None:
    parsed = markdown("Ask <Company Name> or <department>, <b>now</b>.<br>See <Tabs>x</Tabs>.")
    assert parsed.text == "Ask <Company Name> or <department>, now.\nSee x."


@pytest.mark.parametrize("opening", ["<title>", "<iframe>", "<noscript>", "<select>", "<script>"])
def test_raw_html_swallows_nothing_after_its_block(opening: str) -> None:
    assert markdown(f"Use {opening} here.\n\nAfter it.").text.endswith("After it.")
    assert markdown(f"<div>{opening}\n\nAfter it.").text.endswith("After it.")


def test_javascript_is_named_and_never_text() -> None:
    parsed = markdown("# T\n\n<script>alert(2)</script>\n\nText.")
    assert "alert" not in parsed.text
    assert [item.kind for item in parsed.active_content] == ["javascript"]


# Front matter


@pytest.mark.parametrize(
    ("source", "metadata", "text"),
    [
        ("---\ntitle: T\ndate: 2024-05-01\n...\nx", {"title": "T", "date": "2024-05-01"}, "x"),
        ('+++\ntitle = "T"\ndate = 2024-05-01\n+++\nx', {"title": "T", "date": "2024-05-01"}, "x"),
        ("---\n- a\n- b\n---\nx", {}, None),
        ("---\nowner:\n---\nx", {"owner": ""}, "x"),
        ("+++\nnot toml\n+++\n\nx", {}, None),
    ],
)
def test_front_matter(source: str, metadata: dict[str, str], text: str | None) -> None:
    parsed = markdown(source)
    assert parsed.metadata == metadata
    if text is None:
        assert "a" in parsed.text or "not toml" in parsed.text
    else:
        assert parsed.text == text


def test_broken_front_matter_gives_its_plain_lines_and_a_warning() -> None:
    parsed = markdown("---\ntitle: Foo: bar\nowner: HR\n---\n# T\n")
    assert parsed.metadata == {"title": "Foo: bar", "owner": "HR"}
    assert [notice.code for notice in parsed.warnings] == ["bad_front_matter"]


def test_front_matter_makes_no_objects() -> None:
    parsed = markdown('---\ntitle: !!python/object/apply:os.system ["id"]\n---\n# T\n')
    assert parsed.metadata == {}
    assert parsed.title == "T"


def test_huge_front_matter_is_text() -> None:
    assert "k0: v" in markdown("---\n" + "k0: v\n" * 9_000 + "---\nx").text


# Any text


@settings(max_examples=200, deadline=None)
@given(st.text("ab1 #*-_`[]()<>!|~\n:^>=+.&{}\\", max_size=120))
def test_any_text_gives_a_document_with_exact_blocks(text: str) -> None:
    try:
        parsed = markdown(text)
    except ParseError:
        return
    for before, after in zip(parsed.blocks, parsed.blocks[1:], strict=False):
        assert before.end <= after.start
    covered = "".join("".join(lines(parsed)).split())
    assert covered == "".join(parsed.text.split())


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("abcdefg é中", min_size=1, max_size=30), min_size=1, max_size=8))
def test_words_of_paragraphs_are_all_kept_in_order(paragraphs: list[str]) -> None:
    source = "\n\n".join(paragraphs)
    if not source.strip():
        return
    assert markdown(source).text.split() == source.split()


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "source",
    ["[" * 5_000, "> " * 5_000 + "x", "*a " * 5_000, "|" * 5_000, "`" * 9_999, "<" * 5_000,
     "[^1]" * 2_000 + "\n\n[^1]: x", "- " * 2_000 + "x", "# " + "a" * 50_000],
)  # fmt: skip
def test_odd_markdown_is_read_in_bounded_time(source: str) -> None:
    assert parse(f"# T\n\n{source}\n".encode(), file_name="a.md").text
