"""Reading the image of a page with Tesseract, where it is installed.

Tesseract is a program of its own (Apache-2.0). Its table output (TSV) gives every word with
its box, the line that it stands in and a confidence of 0 to 100.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from documents.errors import ParseError
from documents.records import RecognisedPage, RecognisedWord

DPI = 300
SCALE = DPI / 72
# Runs a program on some bytes, within limits, and returns what it printed.
RunProgram = Callable[[Sequence[str], bytes], bytes]

_WORD_LEVEL = "5"
_PACKS = {
    "zh-Hant": ("chi_tra", "eng"), "zh-Hans": ("chi_sim", "eng"), "ja": ("jpn", "eng"),
    "ko": ("kor", "eng"), "fr": ("fra",), "de": ("deu",), "es": ("spa",), "it": ("ita",),
    "nl": ("nld",), "pt": ("por",), "ru": ("rus",), "el": ("ell",), "pl": ("pol",),
}  # fmt: skip
_DEFAULT_PACKS = ("eng", "chi_tra", "chi_sim", "fra", "deu", "spa")
_MAX_PACKS = 3  # each one more makes reading slower and more often wrong
_LANGUAGE_NAME = re.compile(r"[A-Za-z]{3}(?:_[A-Za-z_]+)?$")


@dataclass(frozen=True, slots=True)
class Tesseract:
    """An installed Tesseract with the languages that it can read."""

    path: str
    languages: tuple[str, ...]

    def arguments(self, language: str | None) -> list[str]:
        """The command that reads an image from its input and prints the table of words."""
        page_layout = "1" if "osd" in self.languages else "3"  # 1 also turns pages upright
        packs = "+".join(self.packs_for(language))
        return [
            self.path, "stdin", "stdout", "-l", packs, "--dpi", str(DPI), "--psm", page_layout,
            "tsv",
        ]  # fmt: skip

    def packs_for(self, language: str | None) -> list[str]:
        """The installed language packs to read a text of `language` with."""
        wanted = _PACKS.get(language or "", _DEFAULT_PACKS)
        found = [pack for pack in wanted if pack in self.languages][:_MAX_PACKS]
        if found:
            return found
        return [pack for pack in self.languages if pack != "osd"][:1]


def find_tesseract(run: RunProgram) -> Tesseract | None:
    """The Tesseract on the path with at least one language, or None."""
    path = shutil.which("tesseract")
    return _described(path, run) if path else None


@cache
def _described(path: str, run: RunProgram) -> Tesseract | None:
    listed = run([path, "--list-langs"], b"").decode("utf-8", "replace").split()
    languages = tuple(name for name in listed if _LANGUAGE_NAME.match(name))
    return Tesseract(path, languages) if set(languages) - {"osd"} else None


def read_image(
    image: bytes, number: int, *, tesseract: Tesseract, language: str | None, run: RunProgram
) -> RecognisedPage:
    """The words on the image (PNG, `DPI` dots an inch) of page `number`.

    Raises:
        ParseError: the program failed or took too long.
    """
    table = run(tesseract.arguments(language), image)
    return RecognisedPage(number, tuple(_words(table.decode("utf-8", "replace"))))


def _words(table: str) -> list[RecognisedWord]:
    """The words of a table of Tesseract's.

    Raises:
        ParseError: it is no such table.
    """
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    words: list[RecognisedWord] = []
    lines: dict[tuple[str, str, str], int] = {}
    try:
        for row in rows:
            if row["level"] == _WORD_LEVEL and (row["text"] or "").strip():
                key = (row["block_num"], row["par_num"], row["line_num"])
                words.append(_word(row, lines.setdefault(key, len(lines))))
    except (KeyError, ValueError) as error:
        message = "Tesseract gave no table of words. Check its installation."
        raise ParseError(message, code="needs_ocr") from error
    return words


def _word(row: dict[str, str], line: int) -> RecognisedWord:
    left, top, width, height = (float(row[key]) for key in ("left", "top", "width", "height"))
    box = (left / SCALE, top / SCALE, (left + width) / SCALE, (top + height) / SCALE)
    confidence = min(max(float(row["conf"]) / 100, 0.0), 1.0)
    return RecognisedWord(row["text"].strip(), box, confidence, line)
