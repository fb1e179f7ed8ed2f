"""Lines in bold that divide what the marked and numbered headings leave in one piece.

A document may mark its title alone and set its headings in bold. Where marks or numbers already
divide the text closely, bold only stresses words.
"""

from __future__ import annotations

from documents.ingestion import titles
from documents.ingestion.surroundings import Surroundings

_MIN_STRETCH = 6000  # characters without any other heading: about two pages
_MAX_SHOWN = 2  # a bold line that comes more often is a page's head or a label
_MAX_RUN = 2  # a heading and its subheading; more in a row are a table or a notice
_LONG_BODY = 80  # characters of a line that need no full stop to be a body


def divides(around: Surroundings, index: int) -> bool:
    """Whether the bold line at `index` is a heading beside those that the format marks."""
    line = around.lines[index]
    stands_alone = line.is_after_blank and line.is_before_blank and not line.is_inline
    if not stands_alone or not titles.is_title(line.text.rstrip(":"), None):
        return False
    is_rare = around.bold_texts[line.text.casefold()] <= _MAX_SHOWN
    return is_rare and around.stretch(index) >= _MIN_STRETCH and _stands_above_body(around, index)


def _stands_above_body(around: Surroundings, index: int) -> bool:
    run = 1
    first = index
    while first and around.lines[first - 1].is_bold and not around.lines[first - 1].level:
        first, run = first - 1, run + 1
        if run > _MAX_RUN:
            return False
    following = index + 1
    while following < len(around.lines) and around.lines[following].is_bold:
        following, run = following + 1, run + 1
        if run > _MAX_RUN:
            return False
    # Between the heading and its body a quieter subheading may stand.
    return any(_is_body(around, place) for place in range(following, following + 2))


def _is_body(around: Surroundings, index: int) -> bool:
    text = around.text(index)
    if text is None or around.lines[index].is_bold:
        return False
    return len(text) > _LONG_BODY or titles.ends_closed(around.paragraph_end(index))
