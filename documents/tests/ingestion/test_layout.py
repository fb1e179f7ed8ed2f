"""Words of a page come back as they were packed, and boxes follow the lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.layout import boxes_around, pack, text_range, unpack
from documents.records import PageRecord, WordBox

EDGE = st.integers(-10_000, 200_000).map(lambda hundredths: hundredths / 100)
WORD = st.builds(
    WordBox,
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**31 - 1),
    st.tuples(EDGE, EDGE, EDGE, EDGE),
)


@given(st.lists(WORD, max_size=30))
def test_words_come_back_as_they_were_packed(words: list[WordBox]) -> None:
    assert list(unpack(pack(words))) == words


def test_a_box_beyond_all_bounds_is_cut_and_not_refused() -> None:
    (word,) = unpack(pack([WordBox(0, 1, (-1e30, 0.0, 1e30, 1.0))]))

    assert word.box[0] < -1e6
    assert word.box[2] > 1e6


def line(top: float, *columns: tuple[float, float], start: int = 0) -> list[WordBox]:
    return [
        WordBox(start + i, start + i + 1, (left, top, right, top + 10))
        for i, (left, right) in enumerate(columns)
    ]


def test_words_of_one_line_share_a_box_and_lines_do_not() -> None:
    words = [*line(0, (0, 10), (12, 20), (22, 30)), *line(14, (0, 10), start=3)]

    assert boxes_around(words, 1, 4) == [(12, 0, 30, 10), (0, 14, 10, 24)]


def test_a_column_far_to_the_right_has_its_own_box() -> None:
    assert len(boxes_around(line(0, (0, 10), (300, 310)), 0, 2)) == 2


def test_words_outside_the_stretch_are_not_marked() -> None:
    assert boxes_around(line(0, (0, 10), (12, 20)), 5, 9) == []


def test_the_text_of_a_page_reaches_from_its_first_word_to_its_last() -> None:
    words = tuple(line(0, (0, 10), (12, 20), start=40))

    assert text_range(PageRecord(1, 100, 100, words)) == (40, 42)
    assert text_range(PageRecord(2, 100, 100)) == (0, 0)
