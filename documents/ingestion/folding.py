"""Normal forms of text: for finding quotes, for search, and for screening.

Every reader of text compares folded copies and points back into the original, so no step
ever stores folded text. What stays true:

- `fold_for_quotes` keeps letters, case and the value of every number: superscripts,
  fractions and circled digits are left as they are, since NFKC would turn 10² into 102.
- Every folded character knows where it came from (`Folded.offsets`), in order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from documents.ingestion import confusables

# Runs that no fold changes, taken in one step: words of printable ASCII or of the common
# ideographs with single blanks between them. Possessive, so that it never backtracks.
_PLAIN_RUN = re.compile(r"(?:[!-_a-~\u4e00-\u9fff]++ ?)++")
_ASCII_RUN = re.compile(r"[\x00-\x7f\u4e00-\u9fff]+|[^\x00-\x7f\u4e00-\u9fff]")

_SINGLE_QUOTES = "‘’‚‛′ʼʹˈ´`‹›＇"
_DOUBLE_QUOTES = "“”„‟″«»「」『』﹁﹂﹃﹄〝〞〟＂"
_DASHES = "‐‑‒–—―⁃−﹘﹣－⸺⸻֊᠆"
_PUNCTUATION = {
    **dict.fromkeys(map(ord, _SINGLE_QUOTES), "'"),
    **dict.fromkeys(map(ord, _DOUBLE_QUOTES), '"'),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    ord("〜"): "~",
}
# Format characters that belong to the text: Arabic number signs and the like.
_KEPT_FORMAT = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x08E2, 0x110BD, 0x110CD}
_BLANK_FILLERS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x3164, 0xFFA0}
_LATIN_EXTRAS = str.maketrans(
    {"ı": "i", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h"}
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded copy of a text and where each of its characters came from.

    `offsets[i]` is the index in the original of folded character `i`; there is one offset
    more than there are characters, the length of the original. Offsets never decrease.
    `changed`: the stretches in which a screening form differs from the first form; None
    where it is the first, or where nobody asked.
    """

    text: str
    offsets: tuple[int, ...]
    changed: tuple[tuple[int, int], ...] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a half-open span of the folded text to one of the original.

        A span that ends inside an expansion (the f of a ligature ﬁ) takes the whole original
        character; characters that were removed after the last one are included.
        """
        if start >= end:
            return self.offsets[start], self.offsets[start]
        first, last = self.offsets[start], self.offsets[end - 1]
        after = end
        while self.offsets[after] == last and after < len(self.text):
            after += 1
        return first, self.offsets[after]


def fold_for_quotes(text: str) -> Folded:
    """Fold what may differ between a quote and its source without changing a word.

    NFKC, all dashes to `-`, quotation marks to `'` and `"`, a run of white space to one
    blank, invisible characters removed. Case, letters and digits stay: full-width digits
    become ASCII ones of the same value, nothing else becomes a digit.
    """
    pieces: list[str] = []
    offsets: list[int] = []
    was_blank = False
    for start, piece in _segments(text):
        if piece == " " and was_blank:
            continue
        if piece:
            was_blank = piece.endswith(" ")
        pieces.append(piece)
        is_run = text.startswith(piece, start)
        offsets.extend(range(start, start + len(piece)) if is_run else [start] * len(piece))
    return Folded("".join(pieces), (*offsets, len(text)))


def fold_for_search(text: str) -> str:
    """Fold to the form that search compares: no case, no accents on Latin or Greek letters.

    İ becomes i, ß ss, é e, final sigma sigma. Marks of other scripts (й, が, vowel signs)
    are part of their letters and stay.
    """
    return strip_accents(fold_for_quotes(text).text.casefold())


def strip_accents(text: str) -> str:
    """Drop combining marks that follow a Latin or Greek letter; the text is casefolded."""
    if text.isascii():
        return text
    kept: list[str] = []
    base = ""
    for character in unicodedata.normalize("NFD", text):
        if unicodedata.combining(character):
            if _takes_accents(base):
                continue
        else:
            base = character
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_LATIN_EXTRAS)


def fold_for_screening(text: str) -> tuple[Folded, ...]:
    """Fold a text to the forms in which an instruction may hide from a plain search.

    White space is a single blank, or a single newline where the original has one.

    Returns:
        Up to four different forms, each with its way back: without case; letters as they
        look (look-alikes as Latin, no marks); that with spaced-out letters joined; that
        with digits and signs read as letters (leetspeak). Forms equal to an earlier one are
        left out, so that plain text is screened once; of later forms only the stretches in
        `changed` say anything new.
    """
    lines = _with_newlines(fold_for_quotes(text), text)
    plain = _map_characters(lines, str.casefold)
    looks = _map_characters(lines, _look)
    forms: dict[str, Folded] = {}
    for form in (plain, looks, _join_spaced_letters(looks), _read_leetspeak(looks)):
        forms.setdefault(form.text, form)
    first, *others = forms.values()
    return (replace(first, changed=None), *others)


def is_invisible(character: str) -> bool:
    """Whether a character leaves no mark on the page and is no white space."""
    code = ord(character)
    if code < 0xAD:
        return unicodedata.category(character) == "Cc" and not character.isspace()
    if code in _BLANK_FILLERS or 0xFE00 <= code <= 0xFE0F or 0xE0000 <= code <= 0xE0FFF:
        return True
    return unicodedata.category(character) == "Cf" and code not in _KEPT_FORMAT


def _segments(text: str) -> Iterator[tuple[int, str]]:
    """Yield (start, folded piece) for each unchanged run or character with its marks."""
    position = 0
    while position < len(text):
        run = _PLAIN_RUN.match(text, position)
        if run is not None:
            # The last character of a run may carry marks that follow.
            end = run.end()
            if end < len(text) and _is_attached(text[end]):
                end -= 1
            if end > position:
                yield position, text[position:end]
                position = end
                continue
        character = text[position]
        end = position + 1
        if character.isspace():
            yield position, " "
        else:
            while end < len(text) and _is_attached(text[end]):
                end += 1
            yield position, _fold_cluster(text[position:end])
        position = end


@lru_cache(maxsize=4096)
def _is_attached(character: str) -> bool:
    """Whether a character may change the one before it: a mark, a jamo, an invisible one."""
    if character < "\u00ad":
        return False
    return (
        unicodedata.category(character).startswith("M")
        or "\u1160" <= character <= "\u11ff"
        or character in "\uff9e\uff9f"
        or is_invisible(character)
    )


@lru_cache(maxsize=4096)
def _fold_cluster(cluster: str) -> str:
    """Fold one character with its marks; empty if nothing visible is left."""
    visible = "".join(c for c in cluster if not is_invisible(c)).translate(_PUNCTUATION)
    folded = "".join(_compatible(character) for character in visible)
    return unicodedata.normalize("NFC", folded).translate(_PUNCTUATION)


def _compatible(character: str) -> str:
    """NFKC of one character, unless that would make up a digit."""
    folded = unicodedata.normalize("NFKC", character)
    if character.isdecimal():
        return folded
    if unicodedata.category(character) == "No" or any(c.isdecimal() for c in folded):
        return character
    return folded


@lru_cache(maxsize=4096)
def _takes_accents(base: str) -> bool:
    return bool(base) and (
        "a" <= base <= "z" or "\u00c0" <= base <= "\u024f" or "\u0370" <= base <= "\u03ff"
    )


def _with_newlines(folded: Folded, original: str) -> Folded:
    """Turn the blanks that stand for a line break back into one."""
    characters = list(folded.text)
    for match in re.finditer(" ", folded.text):
        i = match.start()
        if "\n" in original[folded.offsets[i] : folded.offsets[i + 1]]:
            characters[i] = "\n"
    return Folded("".join(characters), folded.offsets)


@lru_cache(maxsize=8192)
def _look(character: str) -> str:
    """The Latin letters a character looks like, without case and marks."""
    latin = confusables.LATIN.get(character, character)
    bare = "".join(
        confusables.LATIN.get(c, c)
        for c in unicodedata.normalize("NFKD", latin)
        if unicodedata.category(c) != "Mn"
    )
    return "".join(confusables.LATIN.get(c, c) for c in bare.casefold())


def _map_characters(folded: Folded, table: Callable[[str], str]) -> Folded:
    """Replace each character beyond ASCII, lower the others, keep the way back."""
    pieces: list[str] = []
    offsets: list[int] = []
    changed: list[tuple[int, int]] = []
    for match in _ASCII_RUN.finditer(folded.text):
        start, run = match.start(), match.group()
        if len(run) > 1 or run.isascii():
            pieces.append(run.lower())
            offsets.extend(folded.offsets[start : match.end()])
            continue
        piece = table(run)
        if piece != run.casefold():
            changed.append((len(offsets), len(offsets) + len(piece)))
        pieces.append(piece)
        offsets.extend([folded.offsets[start]] * len(piece))
    return Folded("".join(pieces), (*offsets, folded.offsets[-1]), tuple(changed))


# A word of one-letter pieces: "i g n o r e", "i.g.n.o.r.e", "i-g-n-o-r-e"; three or more.
_SPACED = re.compile(r"(?<![^\W_])[^\W\d_](?:([ .\-_*|/,·])[^\W\d_](?:\1[^\W\d_])+)(?![^\W_])")


def _join_spaced_letters(folded: Folded) -> Folded:
    """Undo letter spacing; a wider gap between spaced words cannot be told and is lost."""
    pieces: list[str] = []
    offsets: list[int] = []
    changed: list[tuple[int, int]] = []
    position = 0
    for match in _SPACED.finditer(folded.text):
        pieces += [folded.text[position : match.start()], match.group()[::2]]
        offsets += folded.offsets[position : match.start()]
        changed.append((len(offsets), len(offsets) + len(match.group()[::2])))
        offsets += folded.offsets[match.start() : match.end() : 2]
        position = match.end()
    return Folded(
        "".join((*pieces, folded.text[position:])),
        (*offsets, *folded.offsets[position:]),
        tuple(changed),
    )


_LEET = {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i"}
# A word that mixes letters with such signs; a plain number or a section number is no word.
_LEET_WORD = re.compile(
    r"(?<![\w@$!])(?=[a-z]*+[0134579@$!])(?=[0134579@$!]*+[a-z])[a-z0134579@$!]{2,}(?![\w@$])"
)


def _read_leetspeak(folded: Folded) -> Folded:
    """Read digits and signs inside words as the letters they stand for, one for one."""
    changed: list[tuple[int, int]] = []

    def read(match: re.Match[str]) -> str:
        word = "".join(_LEET.get(c, c) for c in match.group())
        if word != match.group():
            changed.append(match.span())
        return word

    text = _LEET_WORD.sub(read, folded.text)
    return Folded(text, folded.offsets, tuple(changed))
