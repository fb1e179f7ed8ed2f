"""Warnings about a whole file, and how they are put together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.notices import compact, coverage, coverage_notices, unread_pages
from documents.records import (
    ChunkKind,
    ChunkRecord,
    MediaType,
    Notice,
    PageRecord,
    ParsedDocument,
    ProcessedDocument,
    SectionRecord,
)


def test_the_same_words_are_said_once_with_all_their_pages() -> None:
    lost = [Notice("table_lost", "A table was lost.", (page,)) for page in (7, 3, 3)]

    assert compact([*lost, Notice("no_headings", "No headings.")]) == (
        Notice("no_headings", "No headings."),
        Notice("table_lost", "A table was lost.", (3, 7)),
    )


def test_of_one_kind_ten_are_told_and_the_rest_is_counted() -> None:
    gaps = [Notice("numbering_gap", f"After {i} comes {i + 2}.") for i in range(25)]

    told = compact(gaps)

    assert len(told) == 11
    assert told[-1].message == "There are 15 more warnings of this kind."


@given(st.lists(st.builds(Notice, st.sampled_from("abc"), st.sampled_from("xyz"), st.just((1,)))))
def test_no_warning_gets_lost_and_doing_it_twice_changes_nothing(notices: list[Notice]) -> None:
    told = compact(notices)

    assert {(n.code, n.message) for n in told} == {(n.code, n.message) for n in notices}
    assert told == compact(told)


def document(text: str, **fields: object) -> ParsedDocument:
    return ParsedDocument(MediaType.PDF, text, (), **fields)  # type: ignore[arg-type]  # a test's own fields


def processed(text: str, *chunks: tuple[int, int], heading: int = 0) -> ProcessedDocument:
    section = SectionRecord(0, None, 1, None, None, "x", ("x",), 0, heading, len(text))
    made = tuple(
        ChunkRecord(i, 0, ChunkKind.GENERAL, text[a:b], a, b, 1) for i, (a, b) in enumerate(chunks)
    )
    return ProcessedDocument(document(text), (section,), made, ())


def test_coverage_counts_each_character_once_and_no_blanks() -> None:
    assert coverage(processed("aaaa bbbb", (0, 4), (2, 9))) == 1.0
    assert coverage(processed("aaaa bbbb", (0, 4))) == 0.5
    assert coverage(processed("aaaa bbbb", (5, 9), heading=4)) == 1.0


def test_less_than_98_percent_is_a_warning_with_the_share() -> None:
    text = "a" * 100

    assert coverage_notices(processed(text, (0, 98))) == ()
    (notice,) = coverage_notices(processed(text, (0, 97)))
    assert notice.code == "low_coverage"
    assert "97%" in notice.message


def test_pages_named_by_the_parser_or_never_given_were_not_read() -> None:
    pages = tuple(PageRecord(number, 1, 1) for number in (1, 2, 4))
    warned = document("x", pages=pages, warnings=(Notice("pages_without_text", "…", (2,)),))

    assert unread_pages(warned) == (2, 3)
    assert unread_pages(document("x", pages=pages[:2], metadata={"page_count": "3"})) == (3,)
    assert unread_pages(document("x")) == ()
