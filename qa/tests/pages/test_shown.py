"""How an answer becomes pieces of a page: nothing added, nothing lost."""

from __future__ import annotations

import datetime
import uuid

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from documents.access import ReadableChunk, ReadableSection
from qa.pages.reading import headings_of
from qa.pages.shown import days, heading, pieces, reflowed

TEXT = st.text(alphabet="ab1. -\n字。|:;", max_size=400)


@given(TEXT)
def test_reflowing_changes_line_breaks_alone_and_keeps_every_offset(text: str) -> None:
    flowing = reflowed(text)

    assert len(flowing) == len(text)
    assert all(a == b or (a, b) == ("\n", " ") for a, b in zip(text, flowing, strict=True))


@given(TEXT, st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60)), max_size=4))
def test_pieces_are_the_text_and_mark_each_quote_whole(
    text: str, spans: list[tuple[int, int]]
) -> None:
    quotes = {f"q{i}": text[a : a + size] for i, (a, size) in enumerate(spans)}

    cut = pieces(text, quotes)

    assert "".join(piece.text for piece in cut) == reflowed(text)
    for key, quote in quotes.items():
        marked = "".join(piece.text for piece in cut if key in piece.quotes.split())
        assert len(marked) == len(quote)


def test_a_quote_that_is_not_in_the_text_marks_nothing() -> None:
    assert [piece.quotes for piece in pieces("Staff receive 27 days.", {"q1": "28 days"})] == [""]


@pytest.mark.parametrize(
    ("text", "flowing"),
    [
        (f"{'a' * 60}\nb", f"{'a' * 60} b"),
        ("short line\nb", "short line\nb"),
        (f"{'a' * 60}\n\nb", f"{'a' * 60}\n\nb"),
        (f"{'a' * 60}\n- item", f"{'a' * 60}\n- item"),
        (f"{'a' * 60}\n4.3 Clause", f"{'a' * 60}\n4.3 Clause"),
        (f"{'字' * 60}\n字", f"{'字' * 60}\n字"),
    ],
)
def test_only_an_editors_line_breaks_are_undone(text: str, flowing: str) -> None:
    assert reflowed(text) == flowing


def test_a_heading_has_its_number_once() -> None:
    assert heading({"section_id": "4", "section_title": "Notice"}) == "4 Notice"
    assert heading({"section_id": "Notice", "section_title": "Notice"}) == "Notice"


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "in force from 1 January 2024 to 30 June 2026"), ("zh-hant", "2024年1月1日")],
)
def test_days_are_said_in_the_readers_language(language: str, words: str) -> None:
    with translation.override(language):
        assert words in days("2024-01-01", "2026-06-30")


def _section(*path: str, number: str | None = None, text: str = "Words.") -> ReadableSection:
    chunk = ReadableChunk(1, uuid.uuid4(), text, 0, None, "general", False, True)
    return ReadableSection(
        public_id=uuid.uuid4(),
        ordinal=1,
        number=number,
        title=path[-1],
        path=path,
        policy_title="Policy",
        policy_slug="policy",
        contact="",
        language="en",
        version_number=1,
        effective_from=datetime.date(2024, 1, 1),
        effective_to=None,
        chunks=(chunk,),
    )


def _levels(*sections: ReadableSection) -> list[list[tuple[int, str]]]:
    return [[(h.level, h.text) for h in headings] for headings in headings_of(sections)]


def test_headings_show_each_parent_once_and_no_untitled_clause() -> None:
    clause = _section("P", "1 Scope", "1.1", number="1.1", text="1.1 All staff.")
    other = _section("P", "1 Scope", "1.2", number="1.2", text="1.2 Others.")
    titled = _section("P", "2 Leave", "2.1 Sick leave", number="2.1")

    assert _levels(clause, other, titled) == [
        [(2, "1 Scope")],
        [],
        [(2, "2 Leave"), (3, "2.1 Sick leave")],
    ]


def test_two_sections_of_one_name_both_have_their_heading() -> None:
    assert _levels(_section("P", "Notes"), _section("P", "Notes")) == [
        [(2, "Notes")],
        [(2, "Notes")],
    ]


_NAMES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=5)


@given(st.lists(_NAMES, min_size=1, max_size=8))
def test_heading_levels_begin_at_two_and_never_skip_one(paths: list[list[str]]) -> None:
    shown = [h.level for hs in headings_of([_section(*path) for path in paths]) for h in hs]

    assert all(later - earlier <= 1 for earlier, later in zip([1, *shown], shown, strict=False))
