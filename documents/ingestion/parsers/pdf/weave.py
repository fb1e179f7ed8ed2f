"""The words of a paragraph's lines as pieces of text: marks out, hyphens mended, blanks right."""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import median

from documents.ingestion.parsers.pdf.blocks import Paragraph, Piece
from documents.ingestion.parsers.pdf.glyphs import is_cjk
from documents.ingestion.parsers.pdf.hyphens import HYPHENS, SOFT_HYPHEN, HyphenJudge
from documents.ingestion.parsers.pdf.lines import has_blank, in_reading_order
from documents.ingestion.parsers.pdf.markers import PRIVATE_BULLETS
from documents.ingestion.parsers.pdf.notes import marks_of, plain
from documents.ingestion.parsers.pdf.page import Line, Word
from documents.records import BlockKind

_UNITS = re.compile(r"(?:k|c|m|d|µ)?m|ft|in|yd|mi|sq|s", re.IGNORECASE)
_POWERS = {"2": "²", "3": "³"}
_ORDINAL = re.compile(r"st|nd|rd|th|er|re|e|o|a|º|ª|TM|SM|®|™|©", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S*$|\S+@\S*$", re.IGNORECASE)
_DASHES = "\u2014\u2013/"


class Weaver:
    """Turns lines into pieces, with the notes and the words of the document in mind."""

    def __init__(self, judge: HyphenJudge, notes: set[tuple[int, str]]) -> None:
        self._judge = judge
        self._notes = notes
        self._marks = {mark for _, mark in notes}

    def weave(self, paragraph: Paragraph) -> None:
        """Fill a paragraph's pieces from its lines."""
        for page, line in paragraph.lines:
            pieces = self.line(page, line, paragraph)
            if pieces and paragraph.pieces:
                self._join(paragraph.pieces, pieces)
            paragraph.pieces.extend(pieces)

    def line(self, page: int, line: Line, paragraph: Paragraph) -> list[Piece]:
        """The pieces of one line, without the marks of notes, which the paragraph then cites."""
        raised = {id(line.words[index]) for index in line.raised}
        pieces: list[Piece] = []
        before: Word | None = None
        is_dropped = False
        for word, is_blank in _closed_up(in_reading_order(line)):
            text = _clean(word.text)
            if id(word) in raised and _is_own_mark(paragraph, pieces):
                text = plain(text)
            elif id(word) in raised and before is not None:
                text = self._raised(text, before, page, paragraph)
            if text:
                has_blank = is_blank or (is_dropped and text[0].isalnum())
                if id(word) in raised and pieces and text[0] in "^²³":
                    has_blank = False
                pieces.append(Piece(text, word, page, has_blank))
            is_dropped = not text
            before = word
        _drop_empty_brackets(pieces)
        return _with_drawn_hyphens(_with_blanks_after_marks(pieces, raised))

    def _raised(self, text: str, before: Word, page: int, paragraph: Paragraph) -> str:
        """What a raised word adds to the text; nothing where it is the mark of a note."""
        value = plain(text)
        if _ORDINAL.fullmatch(value) and before.text[-1:].isdigit() and len(value) > 1:
            return text
        if value in _POWERS and _UNITS.fullmatch(before.text.lstrip("0123456789.,")):
            return _POWERS[value]
        marks = marks_of(value)
        if not marks:
            return text
        # A note may stand on the page after its mark, where the text runs to the foot.
        known = [
            (place, mark)
            for mark in marks
            for place in (page, page + 1)
            if (place, mark) in self._notes
        ][: len(marks)]
        paragraph.cites.extend(known)
        if known or any(mark in self._marks for mark in marks):
            return ""
        is_power = value.isdigit() and before.text[-1:].isdigit() and not self._marks
        return f"^{value}" if is_power and len(before.text) <= 2 else ""

    def _join(self, done: list[Piece], following: list[Piece]) -> None:
        """Decide what stands between the last word of a line and the first of the next."""
        last, first = done[-1], following[0]
        first.has_blank = not (is_cjk(last.text[-1]) and is_cjk(first.text[0]))
        token = _last_token(done)
        if last.text[-1] in HYPHENS and len(token) > 1 and token[-2].isalnum():
            self._mend(done, following, token[:-1])
        elif _is_broken_address(token, first.text) or _ends_in_dash(token):
            first.has_blank = False

    def _mend(self, done: list[Piece], following: list[Piece], before: str) -> None:
        last, after = done[-1], _first_token(following)
        if not after[:1].isalnum() or self._judge.is_suspended(after):
            last.text = last.text.replace(SOFT_HYPHEN, "-")
            return
        following[0].has_blank = False
        is_soft = last.text[-1] == SOFT_HYPHEN
        last.text = last.text.replace(SOFT_HYPHEN, "-")
        if not self._judge.keeps_hyphen(before, after, is_soft=is_soft) and not _ADDRESS.search(
            before
        ):
            last.text = last.text[:-1]
            if not last.text:
                done.pop()


def _is_own_mark(paragraph: Paragraph, pieces: list[Piece]) -> bool:
    """Whether nothing but a bracket stands before a raised word in a note."""
    is_note = paragraph.kind is BlockKind.FOOTNOTE and not paragraph.pieces
    return is_note and not any(c.isalnum() for piece in pieces for c in piece.text)


def _drop_empty_brackets(pieces: list[Piece]) -> None:
    """Brackets that held nothing but a mark go with it."""
    for index in range(len(pieces) - 1, 0, -1):
        is_empty = pieces[index - 1].text in ("(", "[") and pieces[index].text[0] in ")]"
        if is_empty:
            pieces[index].text, pieces[index].has_blank = pieces[index].text[1:], False
            del pieces[index - 1 : index + (not pieces[index].text)]


def _is_broken_address(token: str, after: str) -> bool:
    return bool(_ADDRESS.search(token)) and token[-1] in "/-_.=&?" and after[0].islower()


def _ends_in_dash(token: str) -> bool:
    return len(token) > 1 and token[-1] in _DASHES and token[-2].isalnum()


def _with_blanks_after_marks(pieces: list[Piece], raised: set[int]) -> list[Piece]:
    """A note's own mark is parted from its first word."""
    if len(pieces) > 1 and pieces[0].word is not None and id(pieces[0].word) in raised:
        pieces[1].has_blank = True
        pieces[0].text = plain(pieces[0].text)
    return pieces


def _clean(text: str) -> str:
    if text.isascii():
        return text
    return "".join(PRIVATE_BULLETS.get(character, character) for character in text).strip()


def _with_drawn_hyphens(pieces: list[Piece]) -> list[Piece]:
    """A soft hyphen that is drawn inside a line is a hyphen; at its end it breaks a word."""
    for index, piece in enumerate(pieces):
        if SOFT_HYPHEN in piece.text:
            end = len(piece.text) - (index == len(pieces) - 1)
            piece.text = piece.text[:end].replace(SOFT_HYPHEN, "-") + piece.text[end:]
    return pieces


def _closed_up(words: tuple[Word, ...]) -> list[tuple[Word, bool]]:
    """Each word and whether a blank stands before it; spaced-out letters are closed up."""
    blanks = [
        index == 0 or has_blank(words[index - 1], words[index]) for index in range(len(words))
    ]
    singles = sum(len(word.text) == 1 and word.text.isalpha() for word in words)
    if (
        len(words) >= 4
        and singles >= 0.8 * len(words)
        and not any(is_cjk(w.text) for w in words if len(w.text) == 1)
    ):
        gaps = [after.box[0] - before.box[2] for before, after in pairwise(words)]
        limit = 1.6 * max(median(gaps), 0.0) + 0.05 * words[0].size
        blanks = [True, *(gap > limit for gap in gaps)]
    return list(zip(words, blanks, strict=True))


def _last_token(pieces: list[Piece]) -> str:
    token = ""
    for piece in reversed(pieces):
        token = piece.text + token
        if piece.has_blank:
            break
    return token


def _first_token(pieces: list[Piece]) -> str:
    token = pieces[0].text
    for piece in pieces[1:]:
        if piece.has_blank:
            break
        token += piece.text
    return token
