"""Whether a paragraph reads like a title, and whether it is an entry of a contents list."""

from __future__ import annotations

import re

_MAX_TITLE = 200
_MAX_SENTENCE_TITLE = 80  # a title that ends like a sentence is short
_SENTENCE_END = (".", ";", ":", ",", "。", "；", "：", "，")
_ENTRY_END = re.compile(r"[\t.…_ \u00a0]\s*(?:\d{1,4}|[ivxlcIVXLC]{1,7}|\d{1,3}-\d{1,3})\Z|\t")


def reads_like_title(text: str) -> bool:
    """Whether a paragraph in a heading style is a heading, not a whole clause set like one."""
    if len(text) > _MAX_TITLE:
        return False
    return len(text) <= _MAX_SENTENCE_TITLE or not text.endswith(_SENTENCE_END)


def is_contents_entry(text: str) -> bool:
    """Whether a line ends in a page number, as those of a table of contents do."""
    return len(text) <= 2 * _MAX_TITLE and _ENTRY_END.search(text) is not None
