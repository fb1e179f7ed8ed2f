"""A passage in pieces: nothing lost, nothing hidden."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from documents.admin.marked import Piece, pieces

spans = st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)), max_size=5)
texts = st.text(max_size=50) | st.text(alphabet="ab\u200b\u202e\U000e0041\n", max_size=50)


@given(texts, spans)
def test_every_character_is_in_exactly_one_piece(text, where):
    cut = pieces(text, where)

    assert sum(piece.count if piece.name else len(piece.text) for piece in cut) == len(text)
    visible = "".join(piece.text for piece in cut)
    assert not set(visible) & {"\u200b", "\u202e", "\U000e0041"}


@given(texts, spans)
def test_what_is_marked_is_what_a_span_covers(text, where):
    marks = [
        piece.is_marked
        for piece in pieces(text, where)
        for _ in range(piece.count if piece.name else len(piece.text))
    ]

    assert marks == [any(start <= i < end for start, end in where) for i in range(len(text))]


def test_a_run_of_one_invisible_character_is_one_piece():
    assert pieces("a\u200b\u200b\u202eb", [(1, 2)]) == [
        Piece("a", False),
        Piece("", True, "U+200B ZERO WIDTH SPACE", 1),
        Piece("", False, "U+200B ZERO WIDTH SPACE", 1),
        Piece("", False, "U+202E RIGHT-TO-LEFT OVERRIDE", 1),
        Piece("b", False),
    ]


def test_ordinary_text_is_one_piece():
    assert pieces("第 1 條: é, naïve\n\tend") == [Piece("第 1 條: é, naïve\n\tend", False)]
