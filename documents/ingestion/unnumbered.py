"""Which lines without a number are headings, by weighing what speaks for it.

Nothing is certain about such a line, so evidence is added up: a line in capitals or in bold
needs only a body below it; one that merely reads like a title must also stand like one, and in
a document whose sections have numbers it is no heading at all.
"""

from __future__ import annotations

from documents.ingestion import emphasis, titles
from documents.ingestion.contents import is_contents_title
from documents.ingestion.lines import Line
from documents.ingestion.surroundings import Surroundings
from documents.records import MediaType

_THRESHOLD = 3
_CAPITALS = 3
_BOLD = 3
_READS_LIKE_A_TITLE = 1
_SHORT_TITLE_CASE = 1
_STANDS_ALONE = 1
_ABOVE_A_BODY = 1
_ABOVE_NO_BODY = -3
_QUIET_AMONG_NUMBERS = -2  # neither capitals nor bold, where sections are numbered
_HARDLY_A_WORD = -3

_MIN_LETTERS = 4
_MAX_WORDS = 10
_MAX_CHARACTERS = 80
_MAX_TITLE_CASE_WORDS = 6
_MIN_BODY = 40  # characters of a body right below
_LONG_BODY = 80  # characters of a line that need no full stop to be a body
_PLAIN = frozenset({MediaType.PLAIN, MediaType.PDF})


def is_unnumbered_heading(around: Surroundings, index: int, media_type: MediaType) -> bool:
    """Whether the line at `index`, which has no label, opens a section."""
    line = around.lines[index]
    if line.is_inline:
        return _stands_before_count(around, index)
    if index == 0 or not line.is_after_blank or around.text(index + 1) is None:
        return False
    if titles.is_caption(line.text):
        return False
    if media_type not in _PLAIN or around.is_mostly_marked:
        is_bold = line.is_bold and _is_short(line.text.rstrip(":"))
        return is_bold and (around.marked_count <= 1 or emphasis.divides(around, index))
    if not _is_short(line.text) or is_contents_title(line.text) or around.is_first_block(index):
        return False
    return _weight(around, index) >= _THRESHOLD


def _stands_before_count(around: Surroundings, index: int) -> bool:
    """Whether a line is the `RECITALS` of `… a corporation. RECITALS 1. The Trust …`."""
    text, following = around.lines[index].text, around.label(index + 1)
    begins_count = following is not None and following.value[-1:] == (1,)
    is_word = sum(char.isalpha() for char in text) >= _MIN_LETTERS
    return begins_count and is_word and text.isupper() and _is_short(text)


def _weight(around: Surroundings, index: int) -> int:
    line = around.lines[index]
    has_capitals = line.text.isupper()
    weight = _CAPITALS * has_capitals + _BOLD * line.is_bold
    if weight == 0 and around.is_numbered:
        weight += _QUIET_AMONG_NUMBERS
    if titles.is_title(line.text, None):
        weight += _READS_LIKE_A_TITLE
    if _is_short_title_case(line) and not has_capitals:
        weight += _SHORT_TITLE_CASE
    weight += _STANDS_ALONE * line.is_before_blank
    weight += _ABOVE_A_BODY if _has_body(around, index) else _ABOVE_NO_BODY
    if sum(char.isalpha() for char in line.text) < _MIN_LETTERS and line.text.isascii():
        weight += _HARDLY_A_WORD
    return weight


def _is_short_title_case(line: Line) -> bool:
    return titles.is_title_case(line.text) and len(line.text.split()) <= _MAX_TITLE_CASE_WORDS


def _has_body(around: Surroundings, index: int) -> bool:
    following = around.lines[index + 1]
    if around.label(index + 1) is not None:
        return True
    if not around.lines[index].is_before_blank:
        return len(following.text) >= _MIN_BODY or titles.ends_closed(following.text)
    return len(following.text) > _LONG_BODY or titles.ends_closed(around.paragraph_end(index + 1))


def _is_short(text: str) -> bool:
    if len(text.split()) > _MAX_WORDS or len(text) > _MAX_CHARACTERS:
        return False
    return (
        text[:1].isalpha() and not text[0].islower() and not text.endswith(tuple(".,;:!。，；：！"))
    )
