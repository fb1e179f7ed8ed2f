"""Lines that were broken to fit a width, joined to the paragraphs they were.

A break counts as made by width where the next line's first word would not have fitted. Lines
that begin with a label or marker, rows of tables and short lines keep their breaks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

_MARKER = re.compile(
    r"(?:[-*+•·▪◦‣■□●○※–—>|#]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxlcIVXLC]{1,6})[.)]\s"
    r"|[(（][\w一-龥]{1,4}[)）]|\d+(?:\.\d+)+[.)]?\s|§|https?:|[一二三四五六七八九十百]{1,4}[、.．]"
    r"|第\s*[一二三四五六七八九十百千〇零\d]+\s*[條条款項项章節节編编目])"
)
_NAMED_LABEL = re.compile(
    r"(?:art(?:icle|\.)?|sec(?:tion|\.)?|clause|chapter|part|schedule|annex|appendix|rule|title"
    r"|item|exhibit|paragraph)\s+[\dIVXLC]|\d+(?:\.\d+)*\s",
    re.IGNORECASE,
)
# After these a label is a reference inside a sentence, not the beginning of a clause.
_LEADS_ON = re.compile(
    r"(?:\b(?:in|under|see|of|and|or|to|with|by|per|the|from|this|that|than|for|at|on|least|most"
    r"|article|articles|section|sections|clause|clauses|paragraph|paragraphs|chapter|schedule"
    r"|annex|appendix|rule|item|part|no\.|nos\.)|,)\Z",
    re.IGNORECASE,
)
_COLUMNS = re.compile(r"\S(?: {3,}|\t)\S|\S {2,}\S.*\S {2,}\S|\|.*\||\+[-=+]{3,}")
_RULER = re.compile(r"\s*([=\-~_*#^])\1{2,}\s*\Z")
_HYPHENATED = re.compile(r"([^\W\d_]{2,})[-\u2010]\Z")
_SOFT = "\v"
_MIN_WIDTH, _MAX_WIDTH = 50, 132  # columns
_NEARLY = 0.8  # of the text's width, from which a paragraph's own width counts
_MIN_SHARE = 0.5  # of breaks inside paragraphs that width made, where a text is wrapped


def columns(line: str) -> int:
    """How many columns a line takes on a screen: Chinese characters take two."""
    if line.isascii():
        return len(line)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def is_ruler(line: str) -> bool:
    """Whether a line is drawn: `=====` or `-----`."""
    return _RULER.match(line) is not None


def wrap_width(paragraphs: Sequence[Sequence[str]]) -> int | None:
    """The width that a text's lines were broken at, or None where they were not."""
    inner = [line for lines in paragraphs for line in lines[:-1]]
    widths = sorted(columns(line) for line in inner)
    if len(widths) < 2:
        return None
    width = widths[min(int(len(widths) * 0.95), len(widths) - 1)]
    if not _MIN_WIDTH <= width <= _MAX_WIDTH:
        return None
    full = breaks = 0
    for lines in paragraphs:
        own = _own_width(lines, width)
        full += sum(_is_full(line, after, own) for line, after in pairwise(lines))
        breaks += len(lines) - 1
    return width if full >= _MIN_SHARE * breaks else None


def _own_width(lines: Sequence[str], width: int) -> float:
    """A paragraph's own width, since writers by hand keep none exactly."""
    widest = max((columns(line) for line in lines[:-1]), default=0)
    is_long = len(lines) > 2 and _NEARLY * width <= widest <= width
    return widest if is_long else 0.92 * width


def join_lines(lines: Sequence[str], width: int, words: str = "") -> list[str]:
    """Join the lines of a paragraph that only the width parted.

    Args:
        lines: the paragraph's lines.
        width: columns at which its text was broken.
        words: the whole text; a word that it holds in one piece loses its hyphen at a break.
    """
    own = _own_width(lines, width)
    joined: list[str] = []
    last = ""  # as it stood: what was joined before is not counted
    for line in lines:
        if joined and _is_full(last, line, own) and _goes_on(last, line, is_first=len(joined) == 1):
            joined[-1] = _join(joined[-1], line.strip(), words)
        else:
            joined.append(line)
        last = line
    return joined


def joined_breaks(text: str) -> str:
    """Text whose soft breaks (vertical tabs) become blanks where width made them, else newlines."""
    if _SOFT not in text:
        return text
    return "\n".join(_joined_paragraph(part) for part in text.split("\n"))


def _joined_paragraph(text: str) -> str:
    lines = [line.strip() for line in text.split(_SOFT)]
    widest = max(columns(line) for line in lines)
    is_wrapped = _MIN_WIDTH <= widest <= _MAX_WIDTH and wrap_width([[*lines, ""]]) is not None
    if len(lines) == 2:
        is_wrapped = 60 <= columns(lines[0]) <= _MAX_WIDTH
        widest = columns(lines[0])
    return "\n".join(join_lines(lines, widest) if is_wrapped else lines)


def _is_full(line: str, after: str, width: float) -> bool:
    """Whether the first word of the next line would not have fitted on this one."""
    if columns(line) < 0.5 * width:
        return False
    first = after.split(None, 1)[0] if after.strip() else ""
    if first and _is_wide(first[0]):
        first = first[:2]  # a break may stand between any two characters
    return columns(line.rstrip()) + 1 + columns(first) > width


def _goes_on(line: str, after: str, *, is_first: bool) -> bool:
    stripped, following = line.strip(), after.strip()
    if _COLUMNS.search(stripped) or _COLUMNS.search(following):
        return False
    if is_ruler(line) or is_ruler(after) or _MARKER.match(following):
        return False
    if _NAMED_LABEL.match(following) and not _LEADS_ON.search(stripped):
        return False
    indent, next_indent = _indent(line), _indent(after)
    begins_item = _MARKER.match(stripped) is not None
    is_hanging = begins_item and next_indent > indent
    is_first_line = is_first and next_indent < indent
    return indent == next_indent or is_hanging or is_first_line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _join(line: str, after: str, words: str) -> str:
    if _is_wide(line[-1]) and _is_wide(after[0]):
        return line + after
    broken = _HYPHENATED.search(line)
    if broken and after[:1].islower():
        rest = re.match(r"[^\W\d_]+", after)
        whole = broken[1] + (rest[0] if rest else "")
        is_word = re.search(rf"\b{re.escape(whole)}\b", words) is not None
        return (line[:-1] if is_word else line) + after
    return f"{line} {after}"


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"
