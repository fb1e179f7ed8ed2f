"""The names that files come with: as shown to people, and as a title.

A name is never a path here: files are stored under their hash. What is shown holds no folder,
no control, no mark that turns or hides letters, and is short enough for a line.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePath

MAX_NAME = 200  # characters
UNNAMED = "unnamed"
UNTITLED = "Untitled policy"
_KNOWN_SUFFIX = re.compile(
    r"(?:\.(?:pdf|docx|html?|xhtml|md|markdown|mdown|mkd|txt|text|json))+\Z", re.IGNORECASE
)
_MOST_OF_A_SUFFIX = 12
# Names of devices under Windows, whatever suffix follows: a download could not be saved.
_RESERVED = frozenset(
    ["CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))]
)


def shown_name(name: str) -> str:
    """The last part of a path, without anything that a person would not see or be misled by.

    A folder, a turned direction of reading and a zero-width letter go; the suffix stays.
    """
    last = re.split(r"[\\/]", name)[-1]
    seen = "".join(_shown(letter) for letter in unicodedata.normalize("NFC", last))
    words = _shortened(" ".join(seen.split()).strip(". "))
    stem, dot, suffixes = words.partition(".")
    if stem.upper() in _RESERVED:
        return f"{stem}_{dot}{suffixes}"
    return words or UNNAMED


def title_from_name(name: str) -> str:
    """A readable title from a file's name: `travel-policy_v2.docx` gives `Travel policy v2`."""
    shown = shown_name(name)
    stem = _KNOWN_SUFFIX.sub("", shown) if shown != UNNAMED else ""
    if stem == shown:
        stem = PurePath(shown).stem
    words = " ".join(stem.replace("_", " ").replace("-", " ").split())
    return words[:1].upper() + words[1:] if words else UNTITLED


def _shown(letter: str) -> str:
    category = unicodedata.category(letter)
    if category in ("Cc", "Zl", "Zp", "Zs"):
        return " "
    return "" if category in ("Cf", "Cs", "Co", "Cn") else letter


def _shortened(name: str) -> str:
    if len(name) <= MAX_NAME:
        return name
    suffix = PurePath(name).suffix
    suffix = suffix if len(suffix) <= _MOST_OF_A_SUFFIX else ""
    return name[: MAX_NAME - len(suffix)].rstrip(". ") + suffix
