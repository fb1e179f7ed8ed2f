"""Lines that open an item or a clause, and lines that end a sentence."""

from __future__ import annotations

import re

_BULLET_SIGNS = "•‣◦⁃∙●○■□▪▫◆◇►▶➢➤✓✔❖·–—*"
BULLET = re.compile(rf"(?:[{_BULLET_SIGNS}]|-|o)(?=\s\S)")
_LETTERED = re.compile(
    r"(?:\((?:[a-z]{1,2}|[ivxl]{1,6}|\d{1,3}|[A-Z])\)|(?:[a-z]|[ivx]{1,4}|\d{1,3})\))(?=\s|\S)"
)
_DECIMAL = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,5}\.?(?=\s+\S)|\d{1,3}\.(?=\s+[^\W\d_])")
_LETTER_DOT = re.compile(r"(?:[A-Za-z]|[ivxIVX]{1,5})\.(?=\s+\S)")
_KEYWORD = re.compile(
    r"(?:article|section|sec\.|clause|chapter|part|annex|appendix|schedule|exhibit|rule|§+)\s*"
    r"(?:\d+|[ivxlc]+\b|[a-z]\b)",
    re.IGNORECASE,
)
_HAN = re.compile(
    r"第\s*[一二三四五六七八九十百千零〇○\d]+\s*[條条章節节編编款目部]|[（(][一二三四五六七八九十\d]+[)）]"
    r"|[一二三四五六七八九十]+、|[\d０-９]+[、．]"
)
_LABEL = re.compile(r"(\(?)(\d{1,3}(?:\.\d{1,3})*|[a-zA-Z])([.)]?)\s+(?=\S)")
_ENDS = re.compile(r"[.!?:;。！？：；…](?:[\"”’')\]」』）]*)$|[;；](?:\s+(?:and|or|and/or))$")
_CLOSED = re.compile(r"[.!?。！？…][\"”’')\]」』）]*$")
PRIVATE_BULLETS = {
    **dict.fromkeys(
        "\uf0b7\uf0a7\uf076\uf0d8\uf0fc\uf0a8\uf06e\uf075\uf0be\uf02d\uf0e0\uf0f0", "•"
    ),
    "\uf020": "",
}


def opens_item(text: str) -> bool:
    """Whether a line begins with the marker of a list item."""
    return bool(BULLET.match(text) or _LETTERED.match(text))


def opens_clause(text: str) -> bool:
    """Whether a line begins with a label: of an item, a clause, an article."""
    return bool(
        opens_item(text)
        or _DECIMAL.match(text)
        or _LETTER_DOT.match(text)
        or _HAN.match(text)
        or (text[:1].isupper() and _KEYWORD.match(text))
        or text.startswith("§")
    )


def is_strong_label(text: str) -> bool:
    """A label that no sentence goes on with by chance: a bullet, `4.2 Managers`, 第三條."""
    found = _DECIMAL.match(text)
    if found:
        return text[found.end() :].lstrip()[:1].isupper()
    return bool(BULLET.match(text) or _HAN.match(text))


def follows_label(before: str, text: str) -> bool:
    """Whether two lines begin with labels of one kind that follow each other: `(a)`, `(b)`."""
    one, other = _LABEL.match(before), _LABEL.match(text)
    if one is None or other is None:
        return False
    signs = one.group(1) + one.group(3)
    if signs != other.group(1) + other.group(3) or not _is_next(one.group(2), other.group(2)):
        return False
    return bool(signs) or text[other.end() :][:1].isupper()


def _is_next(value: str, following: str) -> bool:
    *head, last = value.split(".")
    *head_after, last_after = following.split(".")
    if head != head_after:
        return False
    if last.isdigit() and last_after.isdigit():
        return int(last_after) == int(last) + 1
    return len(last) == len(last_after) == 1 and ord(last_after) == ord(last) + 1


def ends_sentence(text: str) -> bool:
    """Whether a line may be the last of a paragraph, by its last sign."""
    return bool(_ENDS.search(text))


def is_closed(text: str) -> bool:
    """Whether a sentence ends with the text."""
    return bool(_CLOSED.search(text))
